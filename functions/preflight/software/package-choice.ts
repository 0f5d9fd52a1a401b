/** Finds the build of the installer package to install in the package store, before plinth creates anything. */
import { type BootstrapOptions, flagName } from '../../../shared/bootstrap/options.js';
import { archiveFor } from '../../../shared/package/manifest.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { ChosenPackage } from '../../engine/record/documents.js';

type Options = Pick<BootstrapOptions, 'installVersion' | 'installHash' | 'installLocal' | 'registryType' | 'airgapped'>;

const setting = 'PLINTH_PACKAGES_BUCKET';
const shownBuilds = 10;

/**
 * Returns undefined if nothing comes from the store. Throws `bad-input` with the flag at fault, and lists the builds in the
 * store.
 */
export async function choosePackage(
  { config, cloud }: Pick<Context, 'config' | 'cloud'>,
  options: Options,
): Promise<ChosenPackage | undefined> {
  const { installVersion, installHash, installLocal } = options;
  if (!config.hosts) {
    const flags = { installVersion, installHash, installLocal };
    const given = (Object.keys(flags) as (keyof typeof flags)[]).filter((option) => flags[option] !== undefined);
    if (given.length === 0) return undefined;
    throw refused(given.map(flagName), 'cannot be used here: bootstraps of this deployment end before the machines', {
      advice: 'Leave that out, or ask your operator to set PLINTH_HOSTS=on.',
    });
  }
  if (installLocal !== undefined || (installVersion === undefined && installHash === undefined)) return undefined;
  const flag = installVersion === undefined ? '--install-hash' : '--install-version';
  const bucket = config.packagesBucket;
  if (bucket === undefined) {
    throw refused([flag], 'cannot be used here: this deployment has no package store', {
      advice: `Ask your operator to set ${setting}, or give --install-local.`,
    });
  }
  const version = installVersion?.replace(/^v/, '');
  const all = await cloud.storage.builds(bucket);
  const found = all.find(
    (build) =>
      (version === undefined || build.version === version) && (installHash === undefined || build.hash === installHash),
  );
  if (found === undefined) {
    const ofVersion = all.filter((build) => build.version === version);
    const [at, value] =
      installHash !== undefined && (version === undefined || ofVersion.length > 0)
        ? ['--install-hash', installHash]
        : ['--install-version', installVersion];
    const there = (ofVersion.length > 0 ? ofVersion : all).slice(0, shownBuilds);
    const listed = there.map((build) => `${build.version} (${build.hash})`).join(', ');
    throw refused([at ?? flag], `names no package that there is: ${JSON.stringify(value)}`, {
      advice: there.length === 0 ? `The store gs://${bucket} is empty.` : `There are, the newest first: ${listed}.`,
    });
  }
  const kind = archiveFor(options);
  const archive = await cloud.storage.archive(bucket, found, kind);
  if (archive === undefined) {
    throw refused(
      [flag],
      `names a package without the archive that is needed, ${kind === 'lite' ? 'installer-lite' : 'installer'}.tar.gz`,
      {
        advice: `Upload it to gs://${bucket}/packages/${found.version}/${found.hash}/, or choose another build.`,
      },
    );
  }
  const { object, bytes, sha256 } = archive;
  return { version: found.version, hash: found.hash, archive: kind, object, bytes, sha256 };
}

const refused = (paths: readonly string[], message: string, { advice }: { readonly advice: string }): Problem =>
  new Problem('bad-input', paths.map((path) => `${path} ${message}`).join('; '), {
    errors: paths.map((path) => ({ path, message })),
    advice,
  });
