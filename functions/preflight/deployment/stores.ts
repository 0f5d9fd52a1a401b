/** Whether the package store can be read, and the executable of plinth is in its bucket. */
import { type FunctionName, functionNames } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { putRelease, type Releases, releaseBinary, storedAt } from '../../../shared/release.js';
import { isHidden } from '../../cloud/errors.js';
import { defineFinding, ok, stop, type Verdict } from '../../engine/finding.js';
import { checkRelease } from '../../steps/hosts/release-url.js';
import { applyTerraform } from './mends.js';

const terraformMakes = `${applyTerraform}: it makes the bucket, and its grants stand in terraform/roles.json.`;
const noBucket = (bucket: string): Verdict =>
  stop(
    new Problem('cloud-not-found', `The bucket of packages gs://${bucket} is not there.`, { advice: terraformMakes }),
  );
const mayNotRead = (name: FunctionName, bucket: string): Verdict =>
  stop(new Problem('cloud-permission', `plinth-${name} may not read gs://${bucket}.`, { advice: terraformMakes }));

export const packages = defineFinding({
  code: 'packages',
  title: 'Package store',
  why: 'Platforms are installed from there.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: [],
  async ask({ context: { cloud, config } }) {
    const bucket = config.packagesBucket;
    if (bucket === undefined) return undefined;
    try {
      return { bucket, count: (await cloud.storage.builds(bucket)).length };
    } catch (error) {
      if (error instanceof Problem && error.code === 'cloud-not-found') return { bucket, lack: 'bucket' } as const;
      if (isHidden(error)) return { bucket, lack: 'right' } as const;
      throw error;
    }
  },
  judge(found) {
    if (found === undefined) return ok('this deployment has none');
    if (found.lack === 'bucket') return noBucket(found.bucket);
    if (found.lack === 'right') return mayNotRead(functionNames.bootstraps, found.bucket);
    return ok(`${found.count} builds in gs://${found.bucket}`);
  },
});

/** Jumpboxes fetch by a URL that this function signs. It opens what its signer may read. */
export const packagesOfHost = defineFinding({
  code: 'packages-run-host-step',
  title: 'Package store, for run-host-step',
  why: 'Jumpboxes fetch packages by URLs that it signs.',
  by: 'run-host-step',
  standsOn: 'packages',
  about: [],
  when: ({ context: { config } }) => config.packagesBucket !== undefined,
  async ask({ context: { cloud, config } }) {
    const bucket = config.packagesBucket ?? '';
    return { bucket, held: await cloud.storage.held(bucket, ['storage.objects.get']) };
  },
  judge({ bucket, held }) {
    if (held === undefined) return noBucket(bucket);
    return held.length > 0 ? ok(`gs://${bucket}`) : mayNotRead(functionNames.runHostStep, bucket);
  },
});

export const executable = defineFinding({
  code: 'executable',
  title: 'Executable of plinth',
  why: 'Jumpboxes fetch it, to install with.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: [],
  when: ({ intent: { machines } }) => machines,
  async ask({ context }) {
    const { releases } = context.config;
    try {
      await checkRelease(context);
      return { url: releaseBinary(context.config).url };
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'bad-input') throw error;
      return { lack: error, releases };
    }
  },
  judge({ url = '', lack, releases }) {
    if (lack === undefined) return ok(url);
    return stop(new Problem(lack.code, lack.detail, { advice: releaseMend(releases) }));
  },
});

/** Callers may bring an executable of their own meanwhile. An operator mends it for all. */
function releaseMend({ url, sha256 }: Releases): string {
  if (url === undefined || sha256 === undefined) {
    const setting = url === undefined ? 'PLINTH_RELEASES_URL' : 'PLINTH_RELEASE_SHA256';
    return `Set ${setting} (docs/operate/deploy.md, section 4), and apply terraform again (terraform apply).`;
  }
  const release = releaseBinary({ releases: { url, sha256 } });
  return `Put it there: ${putRelease(release)}.\nIf it is there, plinth-${functionNames.bootstraps} may not read it. ${applyTerraform}.`;
}

export const executableOfHost = defineFinding({
  code: 'executable-run-host-step',
  title: 'Executable of plinth, for run-host-step',
  why: 'Jumpboxes fetch it by URLs that it signs.',
  by: 'run-host-step',
  standsOn: 'executable',
  about: [],
  async ask({ context }) {
    const { url } = releaseBinary(context.config);
    const stored = storedAt(url);
    if (stored === undefined) return { url };
    try {
      await context.cloud.storage.look(stored.bucket, stored.object);
      return { url };
    } catch (error) {
      if (!isHidden(error)) throw error;
      return { url, bucket: stored.bucket };
    }
  },
  judge: ({ url, bucket }) => (bucket === undefined ? ok(url) : mayNotRead(functionNames.runHostStep, bucket)),
});
