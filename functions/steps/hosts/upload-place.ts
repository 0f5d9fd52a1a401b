/** Decides which files of callers go to the jumpbox by Cloud Storage, and where they lie meanwhile. */
import type { MachineAccess } from '../../../shared/bootstrap/bootstrap.js';
import type { Upload } from '../../../shared/bootstrap/upload.js';
import type { StepCall } from '../../engine/step.js';

/** Where a file lies in the bucket of uploads. */
export interface UploadPlace {
  readonly bucket: string;
  readonly object: string;
}

/** Below this, a session, a signed URL and a second look cost more time than IAP does. */
const leastBytes = 16 * 1024 * 1024;

/**
 * Undefined if the file goes over SSH: it is small, the jumpbox has an address of its own, or this deployment has no bucket.
 * Google does not mean IAP for bulk data, and may slow it down:
 * https://cloud.google.com/iap/docs/using-tcp-forwarding
 */
export function uploadPlace(
  { uploadsBucket: bucket }: Pick<StepCall['context']['config'], 'uploadsBucket'>,
  { id, machineAccess }: { readonly id: string; readonly machineAccess: MachineAccess },
  { sha256, bytes }: Upload,
): UploadPlace | undefined {
  if (bucket === undefined || machineAccess !== 'iap' || bytes < leastBytes) return undefined;
  return { bucket, object: `${id}/${sha256}` };
}
