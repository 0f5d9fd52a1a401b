/** Secret Manager as a step sees it: only the secrets of its own bootstrap. */
import type { Context } from '../../context.js';
import { callerSecretName, secretId, secretLabels } from '../record/secret-ids.js';
import type { StepSecrets } from '../step.js';

/** `register` gets each secret value that passes through. */
export function createStepSecrets(
  { cloud, config }: Pick<Context, 'cloud' | 'config'>,
  bootstrapId: string,
  callerVersion: string | undefined,
  register: (value: string) => void,
): StepSecrets {
  const { secretManager } = cloud;
  const idOf = (name: string) => secretId(bootstrapId, name);
  return {
    async caller() {
      if (callerVersion === undefined) return {};
      const values = JSON.parse(await secretManager.read(idOf(callerSecretName), callerVersion)) as Record<
        string,
        string
      >;
      for (const value of Object.values(values)) register(value);
      return values;
    },
    register: (value) => {
      if (value !== undefined) register(value);
    },
    find: (name) => secretManager.find(idOf(name)),
    write(name, payload) {
      registerPayload(payload, register);
      return secretManager.write(idOf(name), payload, secretLabels(config, bootstrapId));
    },
    async read(name, version) {
      const payload = await secretManager.read(idOf(name), version);
      registerPayload(payload, register);
      return payload;
    },
    remove: (name) => secretManager.remove(idOf(name)),
  };
}

/** Secrets that we make are longer. A shorter text within a payload is a name or a user, and also occurs in ordinary text. */
const shortestMade = 16;

/** A payload may be JSON with many secrets. Each text in it counts by itself. */
function registerPayload(payload: string, register: (value: string) => void): void {
  register(payload);
  let parsed: unknown;
  try {
    parsed = JSON.parse(payload);
  } catch {
    return;
  }
  const walk = (value: unknown): void => {
    if (typeof value === 'string' && value.length >= shortestMade) register(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk);
  };
  walk(parsed);
}
