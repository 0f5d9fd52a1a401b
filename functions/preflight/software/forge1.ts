/** What the forge1 token may do and see. */
import { defineFinding, ok } from '../../engine/finding.js';
import { checkForge1Team, checkForge1Token } from './forge1-access.js';

export const forge1Token = defineFinding({
  code: 'forge1-token',
  title: 'forge1 token',
  why: 'Machines fetch images with it, and plinth reads the keys of the team.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: [],
  onResume: 'always',
  when: ({ secrets }) => secrets.forge1Pat !== undefined,
  ask: ({ context, secrets, signal }) => checkForge1Token(context.config.forge1ApiUrl, secrets.forge1Pat ?? '', signal),
  judge: () => ok('known to forge1, with the scopes read:packages and read:org'),
});

export const forge1Team = defineFinding({
  code: 'forge1-team',
  title: 'forge1 team',
  why: 'The SSH keys of its members open the machines.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: ['forge1TeamOrg', 'forge1TeamSlug'],
  onResume: 'changed',
  when: ({ secrets, intent: { options } }) =>
    secrets.forge1Pat !== undefined && options.forge1TeamOrg !== undefined && options.forge1TeamSlug !== undefined,
  ask({ context, intent: { options }, secrets, signal }) {
    const access = { apiUrl: context.config.forge1ApiUrl, token: secrets.forge1Pat ?? '', signal };
    return checkForge1Team(access, options.forge1TeamOrg ?? '', options.forge1TeamSlug ?? '');
  },
  judge: (_, { options }) => ok(`${options.forge1TeamOrg}/${options.forge1TeamSlug}`),
});
