/** Settings that say who calls, who operates and who may bootstrap. */
import * as z from 'zod';
import { asciiLowerCased, Email } from '../../shared/organization/email.js';
import { emails, list, type Rows, setting, text, url, type Values } from '../setting.js';

const domain = text
  .regex(/^[^\s:.]+(?:\.[^\s:.]+)+$/, 'must be e-mails and domains such as example.com')
  .transform(asciiLowerCased);
/** E-mails and domains in one list. */
const bootstrappers = list
  .transform((values) => ({
    emails: values.filter((each) => each.includes('@')),
    domains: values.filter((each) => !each.includes('@')),
  }))
  .pipe(z.object({ emails: z.array(Email), domains: z.array(domain) }));

export const identitySettings = {
  PLINTH_ISSUER: setting(url, 'Issuer of the ID tokens of callers.', 'https://accounts.google.com'),
  PLINTH_AUDIENCES: setting(
    list,
    'Audiences that tokens may be made for: the endpoints, and the OAuth client of people. Unset: no token is accepted.',
    '',
  ),
  PLINTH_OPERATORS: setting(emails, 'E-mails of operators, who may do what an owner may, everywhere.', ''),
  PLINTH_BOOTSTRAPPERS: setting(
    bootstrappers,
    'Who may bootstrap: e-mails of people and service accounts, and Workspace domains (the `hd` claim). Unset: operators only.',
    '',
  ),
} satisfies Rows;

export interface IdentityConfig {
  readonly auth: {
    readonly issuer: string;
    readonly jwksUrl: string;
    readonly audiences: readonly string[];
    readonly operators: readonly string[];
  };
  /** Who may bootstrap. If all are empty, only operators may. `domains` are compared with the `hd` claim. */
  readonly bootstrappers: { readonly emails: readonly string[]; readonly domains: readonly string[] };
}

/** The settings of other rooms that count here, too. */
interface Others {
  readonly PLINTH_ENDPOINTS: { readonly 'issuer-keys': string };
  readonly PLINTH_CONSOLE_CLIENT_ID: string | undefined;
}

export const readIdentity = (read: Values<typeof identitySettings> & Others): IdentityConfig => ({
  auth: {
    issuer: read.PLINTH_ISSUER,
    jwksUrl: read.PLINTH_ENDPOINTS['issuer-keys'],
    audiences: [
      ...read.PLINTH_AUDIENCES,
      ...(read.PLINTH_CONSOLE_CLIENT_ID === undefined ? [] : [read.PLINTH_CONSOLE_CLIENT_ID]),
    ],
    operators: read.PLINTH_OPERATORS,
  },
  bootstrappers: read.PLINTH_BOOTSTRAPPERS,
});
