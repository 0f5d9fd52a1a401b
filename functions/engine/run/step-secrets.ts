/** Secret Manager as a step sees it: the secrets of its own bootstrap alone. */
import type { Context } from '../../context.js';
import { callerSecretName, secretId, secretLabels } from '../record/secret-ids.js';
import type { StepSecrets } from '../step.js';

/** `heard` is told each secret value that passes through, so that logs and problems can be kept free of it. */
export function createStepSecrets(
  { cloud, config }: Pick<Context, 'cloud' | 'config'>,
  bootstrapId: string,
  callerVersion: string | undefined,
  heard: (value: string) => void,
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
      for (const value of Object.values(values)) heard(value);
      return values;
    },
    find: (name) => secretManager.find(idOf(name)),
    write(name, payload) {
      hear(payload, heard);
      return secretManager.write(idOf(name), payload, secretLabels(config, bootstrapId));
    },
    async read(name, version) {
      const payload = await secretManager.read(idOf(name), version);
      hear(payload, heard);
      return payload;
    },
    remove: (name) => secretManager.remove(idOf(name)),
  };
}

/** What we make is longer; a shorter text within a payload is a name or a user, and stands in ordinary words too. */
const shortestMade = 16;

/** A payload may be JSON with many secrets in it: each text counts by itself. */
function hear(payload: string, heard: (value: string) => void): void {
  heard(payload);
  let parsed: unknown;
  try {
    parsed = JSON.parse(payload);
  } catch {
    return;
  }
  const walk = (value: unknown): void => {
    if (typeof value === 'string' && value.length >= shortestMade) heard(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk);
  };
  walk(parsed);
}
