/** Settings that say which deployment this is, and as whom its functions act. */
import { ifSet, optional, type Rows, required, setting, text, type Values } from '../setting.js';

export const hostSettings = {
  PLINTH_PROJECT: required(
    text.regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, 'must be a project id'),
    'The project that plinth itself runs in.',
  ),
  PLINTH_DEPLOYMENT: required(
    text.regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must do as a label value'),
    'Name of this deployment, written into the labels of what it makes.',
  ),
  PLINTH_RELEASE: optional(
    text.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be the name of a release'),
    'Name of the release that was deployed, which `/health` tells. Unset: it is not told.',
  ),
  PLINTH_SERVICE_ACCOUNT: setting(text, 'Identity to ask the metadata server for: `default`, or an e-mail.', 'default'),
} satisfies Rows;

export interface HostConfig {
  /** The project that plinth itself runs in. */
  readonly project: string;
  /** Written into labels. Cleanup touches only its own deployment. */
  readonly deployment: string;
  /** The deployed release, by the name of its folder in the release bucket. Undefined: not known. */
  readonly release?: string;
  /** The identity to ask the metadata server for: `default` or an e-mail. */
  readonly serviceAccount: string;
}

export const readHost = (read: Values<typeof hostSettings>): HostConfig => ({
  project: read.PLINTH_PROJECT,
  deployment: read.PLINTH_DEPLOYMENT,
  ...ifSet('release', read.PLINTH_RELEASE),
  serviceAccount: read.PLINTH_SERVICE_ACCOUNT,
});
