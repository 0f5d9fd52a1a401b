/** Where the jumpbox fetches the release of plinth from. */
import { Problem } from '../../../shared/problems.js';
import { missingRelease, releaseBinary, storedAt } from '../../../shared/release.js';
import type { StepCall } from '../../engine/step.js';

type ReleaseContext = Pick<StepCall['context'], 'config' | 'cloud' | 'clock'>;

/** Throws a Problem that names file, bucket and the command that puts it there, if the release is not in its bucket. */
export async function checkRelease({ config, cloud }: Pick<ReleaseContext, 'config' | 'cloud'>): Promise<void> {
  const release = releaseBinary(config);
  const stored = storedAt(release.url);
  if (stored === undefined) return;
  try {
    await cloud.storage.look(stored.bucket, stored.object);
  } catch (error) {
    // Google tells whoever may not list a bucket 403 of an object that is missing.
    if (!(error instanceof Problem) || !['cloud-not-found', 'cloud-permission'].includes(error.code)) throw error;
    throw missingRelease(release, error.detail);
  }
}

/** The URL for curl. Never store or log it: whoever has a signed one may read the release for so many seconds. */
export async function releaseUrl(context: ReleaseContext, seconds: number): Promise<string> {
  const { url } = releaseBinary(context.config);
  const stored = storedAt(url);
  if (stored === undefined) return url;
  await checkRelease(context);
  return context.cloud.storage.signedUrl(stored, seconds, context.clock.now());
}
