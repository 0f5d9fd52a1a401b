/** Secret Manager as a step sees it: only the secrets of its own bootstrap. */
import { registerScalars } from '../../../shared/secret-texts.js';
import type { Context } from '../../context.js';
import { callerSecretName, secretId, secretLabels } from '../record/secret-ids.js';
import type { StepSecrets } from '../step.js';

type Register = StepSecrets['register'];

/** `register` gets each secret value that passes through. */
export function createStepSecrets(
  { cloud, config }: Pick<Context, 'cloud' | 'config'>,
  bootstrapId: string,
  callerVersion: string | undefined,
  register: Register,
): StepSecrets {
  const { secretManager } = cloud;
  const idOf = (name: string) => secretId(bootstrapId, name);
  const read = async (name: string, version: string): Promise<string> => {
    const payload = await secretManager.read(idOf(name), version);
    registerPayload(payload, register);
    return payload;
  };
  const readJson = async (name: string, version: string): Promise<unknown> => {
    const content = jsonIn(await read(name, version));
    if (content !== undefined) return content;
    // The parser's own message quotes the place where it gave up.
    throw new Error(`version ${version} of the secret ${idOf(name)} is not JSON`);
  };
  return {
    async caller() {
      if (callerVersion === undefined) return {};
      const values = await readJson(callerSecretName, callerVersion);
      for (const value of Object.values(values as Record<string, string>)) register(value);
      return values as Record<string, string>;
    },
    register,
    find: (name) => secretManager.find(idOf(name)),
    write(name, payload) {
      registerPayload(payload, register);
      return secretManager.write(idOf(name), payload, secretLabels(config, bootstrapId));
    },
    read,
    readJson,
    remove: (name) => secretManager.remove(idOf(name)),
  };
}

/** Secrets that we make are longer. A shorter text within a payload is a name or a user, and also occurs in ordinary text. */
const shortestMade = 16;

/** A payload may be JSON with many secrets. Each text in it counts by itself. */
function registerPayload(payload: string, register: Register): void {
  register(payload);
  const walk = (value: unknown): void => {
    if (typeof value === 'string' && value.length >= shortestMade) register(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk);
  };
  const content = jsonIn(payload);
  if (content === undefined) registerScalars({ register }, payload);
  else walk(content);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
