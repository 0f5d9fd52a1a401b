/** `plinth login`, `logout`, `whoami` and `token`: who is calling. */
import { refusalOf } from '../../shared/bootstrap/rules.js';
import { claimsOf } from '../../shared/oauth.js';
import { type Fault, Problem } from '../../shared/problems.js';
import { faultsIn } from '../files/kept-places.js';
import { defineCommand } from '../frame/command.js';
import { readCredentials, removeCredentials } from '../identity/credentials-file.js';
import { logIn } from '../identity/login.js';
import { aloneWithLogin } from '../identity/login-lock.js';
import { discover, revoke } from '../identity/oauth.js';
import { loginClientOf } from '../settings.js';

export const login = defineCommand({
  description: [
    'Opens a page of the token issuer. There you log in and agree that plinth may know your e-mail address. Later commands get their tokens by themselves.',
    "The deployment's OAuth client is read from PLINTH_OAUTH_CLIENT_ID and PLINTH_OAUTH_CLIENT_SECRET, or from oauth.clientId and oauth.clientSecret in the config file. plinth keeps the login in credentials.json in its config folder, which only you can read.",
  ],
  examples: ['plinth login'],

  async run({ io, settings, output, interrupted, faults }) {
    refuse([...faults, ...faultsIn(settings.configFolder)]);
    const client = await loginClientOf(settings);
    const { email, issuer } = await logIn({
      settings,
      client,
      onAddress: (url) => output.say(`Open this address in your browser:\n\n${url}\n`),
      open: io.stderr.isTTY === true && !output.json,
      interrupted,
    });
    if (settings.token !== undefined) output.warn('PLINTH_TOKEN is set, and goes before this login.');
    return { data: { email, issuer }, show: () => `Logged in as ${email}.` };
  },
});

export const logout = defineCommand({
  description: ['Revokes what plinth login was given, and removes it from this computer.'],
  examples: ['plinth logout'],

  async run({ settings, output, interrupted, faults }) {
    refuse(faults);
    const end = async () => {
      const credentials = readCredentials(settings);
      if (credentials === undefined) return undefined;
      const revoked = await discover(credentials, settings).then(
        (endpoints) => revoke(endpoints, credentials.refreshToken, settings),
        () => false,
      );
      removeCredentials(settings);
      return { email: credentials.email, revoked };
    };
    const ended = await aloneWithLogin(settings, end, interrupted);
    if (ended === undefined) return { data: { revoked: false }, show: () => 'Nobody is logged in.' };
    if (!ended.revoked) {
      output.warn(
        "The issuer could not be told; the login is gone from this computer, and can be revoked in your account's settings.",
      );
    }
    return { data: ended, show: () => `${ended.email} is logged out.` };
  },
});

export const whoami = defineCommand({
  description: ['Shows the e-mail address that plinth would call with, and where that comes from. Asks nobody.'],
  examples: ['plinth whoami'],

  async run({ settings, faults }) {
    refuse(faults);
    if (settings.token !== undefined) {
      const email = claimsOf(settings.token).email ?? null;
      return {
        data: { email, from: 'PLINTH_TOKEN' },
        show: () => `${email ?? 'A caller whose token names no e-mail address'}, by PLINTH_TOKEN.`,
      };
    }
    const credentials = readCredentials(settings);
    if (credentials !== undefined) {
      return {
        data: { email: credentials.email, from: 'login' },
        show: () => `${credentials.email}, by plinth login.`,
      };
    }
    throw new Problem('unauthenticated', 'Nobody is logged in.', {
      advice:
        'Log in with plinth login, or set PLINTH_TOKEN. Without either, the Application Default Credentials of a service account are used.',
    });
  },
});

export const token = defineCommand({
  description: [
    'Prints the ID token that plinth would call the bootstrap API with. It is valid for an hour at most. Keep it out of logs and command lines.',
    'The token of plinth login also works for the organization API. The token of a service account is for one address only, which --endpoint names.',
  ],
  examples: [
    'curl --header "Authorization: Bearer $(plinth token)" "$PLINTH_ENDPOINT/bootstraps"',
    'plinth token --endpoint https://organizations.example.com',
  ],

  async run({ token: tokenFor, faults }) {
    refuse(faults);
    const held = await tokenFor();
    const idToken = await held.get();
    return { data: { idToken }, show: () => idToken, reveals: [idToken] };
  },
});

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw refusalOf(faults);
}
