/** Whether the bucket of uploads is there, and each function may do there what terraform/roles.json says. Each asks for itself. */
import { Problem } from '../../../shared/problems.js';
import { defineFinding, type Finding, ok, stop } from '../../engine/finding.js';
import { applyTerraform } from './mends.js';

/** By function, what it needs on the bucket. */
export const uploadPermissions = {
  bootstraps: ['storage.objects.create', 'storage.objects.get', 'storage.objects.list'],
  'run-host-step': ['storage.objects.get', 'storage.objects.list', 'storage.objects.delete'],
} as const;

const uploadsOf = (name: keyof typeof uploadPermissions, by: Finding['by']): Finding =>
  defineFinding({
    code: `uploads-${name}`,
    title: `Bucket of uploads, for ${name}`,
    why: 'Where only IAP leads to machines, big files of callers go through it.',
    by,
    mustBeAsked: true,
    about: [],
    // Without the bucket, files go through IAP itself.
    when: ({ context: { config }, intent }) => intent.machineAccess === 'iap' && config.uploadsBucket !== undefined,
    async ask({ context: { cloud, config } }) {
      const bucket = config.uploadsBucket ?? '';
      const held = await cloud.storage.held(bucket, uploadPermissions[name]);
      return { bucket, missing: held && uploadPermissions[name].filter((each) => !held.includes(each)) };
    },
    judge({ bucket, missing }) {
      if (missing?.length === 0) return ok(`gs://${bucket}`);
      const advice = `${applyTerraform}: it makes the bucket, and its grants stand in terraform/roles.json.`;
      return stop(
        missing === undefined
          ? new Problem('cloud-not-found', `The bucket of uploads gs://${bucket} is not there.`, { advice })
          : new Problem('cloud-permission', `plinth-${name} lacks ${missing.join(', ')} on gs://${bucket}.`, {
              advice,
            }),
      );
    },
  });

export const uploads: readonly Finding[] = [
  uploadsOf('bootstraps', 'bootstraps'),
  uploadsOf('run-host-step', 'run-host-step'),
];
