/** Names and labels of a bootstrap's secrets in Secret Manager. */
import { labels } from '../../../shared/names.js';
import type { Context } from '../../context.js';

/** The secret that holds the caller's secrets, by option name. */
export const callerSecretName = 'caller';
/**
 * The functions' roles tell it from a secret of the deployment by its prefix. Ids of bootstraps are made here, never given.
 */
export const secretId = (bootstrapId: string, name: string): string => `${bootstrapId}-${name}`;

export const secretLabels = (config: Context['config'], bootstrapId: string): Record<string, string> => ({
  [labels.managed]: 'true',
  [labels.bootstrap]: bootstrapId,
  [labels.deployment]: config.deployment,
});
