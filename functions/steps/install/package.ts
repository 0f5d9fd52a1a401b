/** Puts the whole installer package on the jumpbox, from the package store by a signed URL or from the caller's machine. */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { readUpload } from '../../../shared/bootstrap/upload.js';
import { done, of, type StepCall } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { followJob, keepLog } from '../hosts/follow-job.js';
import { hostSetup } from '../hosts/host-setup.js';
import { packagesFolder as folder } from '../hosts/leftovers.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { fetchFailed, noConfig, quoted, runScript } from '../hosts/script.js';
import { uploaded } from '../hosts/uploaded.js';
import { installValues } from './install-values.js';
import { installs } from './k0s.js';

/** In memory and only for root. Anybody with a signed URL may read the package. */
const addressOf = (sha256: string): string => `/run/plinth/${sha256}.curl`;
const urlSeconds = 3600;

const sourceOf = ({ bootstrap: { options, package: chosen } }: Pick<StepCall, 'bootstrap'>) => {
  const local = options.installLocal === undefined ? undefined : readUpload(options.installLocal);
  const sha256 = local?.sha256 ?? chosen?.sha256;
  if (sha256 === undefined) throw new Error('an install has no package');
  return { local, chosen, sha256, path: `${folder}/${sha256}.tar.gz` };
};

export const installerPackage = defineHostStep({
  name: 'package',
  title: 'Installer package',
  needs: { ...hostNeeds(), jumpboxSetup: of(hostSetup, () => ['jumpbox']), installValues },
  when: installs,
  describe: ({ installLocal, installVersion, installHash }) => [
    `package ${(installLocal && readUpload(installLocal)?.name) ?? [installVersion, installHash].filter(Boolean).join(' ')} on the jumpbox`,
  ],
  output: z.object({ path: z.string(), sha256: z.string() }),
  async observe(call) {
    const host = await reach(call);
    const { chosen, path, sha256 } = sourceOf(call);
    if (!(await isFetched(host, path, sha256))) return undefined;
    if (chosen !== undefined) await keepLog(call, host, 'package', fetched(path, chosen));
    return { path, sha256 };
  },
  async run(call) {
    const host = await reach(call);
    const { local, chosen, sha256, path } = sourceOf(call);
    if (local !== undefined) {
      const file = await uploaded(call, host, local, `the package of --install-local, ${local.name}`);
      if (typeof file !== 'string') return file;
      await host.install(file, path, { mode: 0o644, sha256, signal: call.signal });
      return done;
    }
    if (chosen === undefined) throw new Error('an install has no package');
    return followJob(call, host, {
      name: 'package',
      script: fetched(path, chosen),
      what: 'Fetching the package',
      isThere: () => isFetched(host, path, sha256),
      before: () => provideAddress(call, host, chosen),
      exitCodeWithoutIt: noConfig,
      afterFailure: async () => {
        await runScript(host, 'rm -f "$1"', [addressOf(sha256)]).catch(() => undefined);
      },
    });
  },
});

async function provideAddress(
  { context: { cloud, config, clock } }: Pick<StepCall, 'context'>,
  host: Host,
  { object, sha256 }: { readonly object: string; readonly sha256: string },
): Promise<void> {
  const bucket = config.packagesBucket ?? '';
  const url = await cloud.storage.signedUrl({ bucket, object }, urlSeconds, clock.now());
  await host.upload(addressOf(sha256), `url = "${url}"\n`, { mode: 0o600 });
}

/** It gets its name only after its hash was right. Then nobody needs the URL any more. */
async function isFetched(host: Host, path: string, sha256: string): Promise<boolean> {
  const { exitCode } = await runScript(host, '[ -s "$1" ] && rm -f "$2"', [path, addressOf(sha256)]);
  return exitCode === 0;
}

/** Flags that tell plinth on the jumpbox what an uploaded package must be. Only plinth there reads its manifest. */
export const mustBear = ({
  installLocal,
  installHash,
  installVersion,
}: Pick<BootstrapOptions, 'installLocal' | 'installHash' | 'installVersion'>): string[] =>
  installLocal === undefined
    ? []
    : [
        ...(installHash === undefined ? [] : [`--install-hash=${quoted(installHash)}`]),
        ...(installVersion === undefined ? [] : [`--install-version=${quoted(installVersion)}`]),
      ];

/** An interrupted download continues where it stopped. */
const fetched = (
  path: string,
  { object, sha256 }: { readonly object: string; readonly sha256: string },
): string => `set -eu
${fetchFailed}
mkdir -p ${folder}
curl --config ${addressOf(sha256)} --fail --silent --show-error --location --retry 5 --continue-at - --output ${path}.part || fetch_failed $? ${path}.part
sum=$(sha256sum < ${path}.part)
[ "$sum" = '${sha256}  -' ] || { rm -f ${path}.part; echo "what was fetched as "${quoted(object)}" is not what the package store promised: its SHA-256 is \${sum%% *}, not ${sha256}" >&2; exit 65; }
mv -f ${path}.part ${path}
`;
