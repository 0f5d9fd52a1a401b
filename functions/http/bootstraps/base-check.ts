/**
 * Checks the files that a caller sends as the base of a resume, before the resume changes anything. Otherwise a step would
 * find the fault, and a working bootstrap would fail.
 */
import { Problem } from '../../../shared/problems.js';
import type { BeginFacts } from '../../bootstraps/begin/begin-facts.js';
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import { readFile } from '../../engine/record/files.js';
import { factsOf } from '../../engine/run/facts.js';
import { createStepSecrets } from '../../engine/run/step-secrets.js';
import { registerHere } from '../../host/redaction.js';
import { ageIdentity } from '../../steps/config/age-identity.js';

/** Throws the first fault as `bad-input` or `conflict`, and names the datacenter of the faulty file. */
export const checkBase =
  (context: Context) =>
  async ({ id, data }: StoredBootstrap, given: BeginFacts['base']): Promise<void> => {
    const output = data.instances[ageIdentity.name]?.output;
    // Without the age identity, no earlier run can have written these files.
    if (given === undefined || output === undefined) return;
    const { readStandingFiles } = await import('../../steps/config/making.js');
    const { secretVersion } = ageIdentity.output.parse(output);
    const secrets = createStepSecrets(context, id, undefined, registerHere);
    const files = { read: (name: string) => readFile(context, id, name), write: refused };
    const bootstrap = { ...(await factsOf(context, id, data)), base: baseOf(given) };
    for (const datacenter of Object.keys(bootstrap.base)) {
      await readStandingFiles({ bootstrap, files, secrets }, secretVersion, datacenter);
    }
  };

const refused = (): never => {
  throw new Problem('internal', 'A check writes nothing.');
};

const baseOf = (given: NonNullable<BeginFacts['base']>) =>
  Object.fromEntries(
    Object.entries(given).map(([datacenter, files]) => [
      datacenter,
      {
        ...(files?.config === undefined ? {} : { config: files.config }),
        ...(files?.secrets === undefined ? {} : { secrets: files.secrets }),
      },
    ]),
  );
