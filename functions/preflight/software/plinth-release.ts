/** Whether the executable of plinth that the jumpbox fetches is where this deployment says. */
import { releaseBinary } from '../../../shared/release.js';
import { defineFinding, ok } from '../../engine/finding.js';
import { checkRelease } from '../../steps/hosts/release-url.js';

export const plinthRelease = defineFinding({
  code: 'plinth-release',
  title: 'Executable of plinth',
  why: 'The jumpbox fetches it, to install with.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: [],
  // What stands may have its plinth already.
  when: ({ intent: { machines, options } }) => machines && options.remoteCliBinary === undefined,
  async ask({ context }) {
    const release = releaseBinary(context.config);
    await checkRelease(context);
    return release;
  },
  judge: ({ url }) => ok(url),
});
