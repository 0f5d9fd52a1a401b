/** Whether the package store can be read, and the executable of plinth is in its bucket. */
import { releaseBinary } from '../../../shared/release.js';
import { checkRelease } from '../../steps/hosts/release-url.js';
import { defineFinding, ok } from '../finding.js';

export const packages = defineFinding({
  code: 'packages',
  title: 'Package store',
  why: 'Platforms are installed from there.',
  by: 'door',
  mustBeAsked: true,
  about: [],
  async ask({ context: { cloud, config } }) {
    const bucket = config.packagesBucket;
    return bucket === undefined ? undefined : { bucket, count: (await cloud.storage.builds(bucket)).length };
  },
  judge: (found) =>
    ok(found === undefined ? 'this deployment has none' : `${found.count} builds in gs://${found.bucket}`),
});

export const executable = defineFinding({
  code: 'executable',
  title: 'Executable of plinth',
  why: 'Jumpboxes fetch it, to install with.',
  by: 'door',
  mustBeAsked: true,
  about: [],
  when: ({ intent: { machines } }) => machines,
  async ask({ context }) {
    await checkRelease(context);
    return releaseBinary(context.config);
  },
  judge: ({ url }) => ok(url),
});
