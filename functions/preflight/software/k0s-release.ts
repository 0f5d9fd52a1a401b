/** Whether the release of k0s is there, with a checksum of the program. */
import { Problem } from '../../../shared/problems.js';
import { timeLimit } from '../../../shared/time-limit.js';
import { defineFinding, ok, stop, stopFor } from '../../engine/finding.js';
import { installs } from '../../steps/install/k0s.js';
import { k0sRelease, noRelease } from '../../steps/install/k0s-release.js';

const timeoutMs = 10_000;

export const k0sProgram = defineFinding({
  code: 'k0s-release',
  title: 'Release of k0s',
  why: 'The nodes fetch it, and verify it by its checksum.',
  by: 'bootstraps',
  about: ['kubeDistroVersion', 'installVersion', 'installHash', 'installLocal'],
  when: ({ intent }) => intent.machines && installs(intent.options),
  async ask({ context, intent, signal }) {
    const release = k0sRelease(context.config, intent.options);
    const reply = await fetch(release.sumsUrl, {
      signal: AbortSignal.any([timeLimit(timeoutMs), ...(signal === undefined ? [] : [signal])]),
    }).catch(() => undefined);
    if (reply?.status === 404) return { release, isThere: false, hasSum: false };
    const text = reply?.ok ? await reply.text().catch(() => undefined) : undefined;
    if (text === undefined) {
      const why = reply === undefined ? 'it does not answer' : `it answers ${reply.status}`;
      throw new Problem('unavailable', `${release.folder} cannot be asked now: ${why}.`);
    }
    const hasSum = text.split('\n').some((line) => /^[0-9a-f]{64} [ *](.+)$/.exec(line.trim())?.[1] === release.name);
    return { release, isThere: true, hasSum };
  },
  judge({ release, isThere, hasSum }) {
    if (!isThere) return stop(noRelease(release));
    if (hasSum) return ok(`${release.version}, with its checksum`);
    return stopFor(
      ['kubeDistroVersion'],
      `names ${release.version}, whose release publishes no checksum of ${release.name}`,
      'Give another --kube-distro-version.',
    );
  },
});
