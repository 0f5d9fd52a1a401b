/** Whether the package to install is in the package store. */
import { defineFinding, ok } from '../../engine/finding.js';
import { choosePackage } from './package-choice.js';

export const installerPackage = defineFinding({
  code: 'package',
  title: 'Installer package',
  why: 'It is what the bootstrap installs.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: ['installVersion', 'installHash', 'installLocal', 'registryType', 'airgapped'],
  onResume: 'always',
  onPlan: true,
  ask: ({ context, intent }) => choosePackage(context, intent.options),
  judge: (chosen) =>
    ok(
      chosen === undefined
        ? 'none comes from the package store'
        : `${chosen.version} (${chosen.hash}), ${(chosen.bytes / 1e6).toFixed(1)} MB`,
    ),
});
