/** The caller's secrets in Secret Manager. Each change writes a version, and the last one counts. */
import type { SecretOptions } from '../../../shared/bootstrap/options.js';
import type { Context } from '../../context.js';
import { callerSecretName, secretId, secretLabels } from '../../engine/record/secret-ids.js';
import { createStepSecrets } from '../../engine/run/step-secrets.js';
import { registerHere } from '../../host/redaction.js';

export const writeSecrets = ({ cloud, config }: Context, id: string, secrets: SecretOptions): Promise<string> =>
  cloud.secretManager.write(secretId(id, callerSecretName), JSON.stringify(secrets), secretLabels(config, id));

export const readSecrets = async (
  { cloud, config }: Context,
  id: string,
  version: string | undefined,
): Promise<SecretOptions> => createStepSecrets({ cloud, config }, id, version, registerHere).caller();

/** What the last version holds, for a bootstrap whose record is lost. Empty if there is none any more. */
export async function readLastSecrets(context: Context, id: string): Promise<SecretOptions> {
  try {
    const versions = await context.cloud.secretManager.versions(secretId(id, callerSecretName));
    const last = versions.map(Number).sort((a, b) => b - a)[0];
    return last === undefined ? {} : await readSecrets(context, id, String(last));
  } catch (error) {
    context.log('WARNING', 'The secrets of a lost record could not be read', { bootstrap: id, error });
    return {};
  }
}

/** Destroys earlier versions. Newer versions are kept: they belong to a command whose turn is about to come. */
export async function dropSecretsBefore({ cloud, log }: Context, id: string, current = '0'): Promise<void> {
  const secret = secretId(id, callerSecretName);
  try {
    const earlier = (await cloud.secretManager.versions(secret)).filter((version) => Number(version) < Number(current));
    for (const version of earlier) await cloud.secretManager.destroy(secret, version);
  } catch (error) {
    log('WARNING', 'Secrets that were given earlier were left behind', { bootstrap: id, error });
  }
}
