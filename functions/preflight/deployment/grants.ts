/** Whether the functions hold in plinth's own project what terraform/roles.json grants them there. Each asks for itself. */
import { Problem } from '../../../shared/problems.js';
import {
  type Asker,
  type Asking,
  defineFinding,
  type Finding,
  ok,
  reporters,
  stop,
  type Verdict,
} from '../../engine/finding.js';
import { countOf, type Holder, missingGrants } from '../../host/needed-grants.js';
import { applyTerraform } from './mends.js';

const lacking = (name: Holder, missing: string, project: string): Problem =>
  new Problem('cloud-permission', `In ${project}, plinth-${name} lacks ${missing}.`, {
    advice: `${applyTerraform}: its grants stand in terraform/roles.json.`,
  });

/** Not to be told is not to hold nothing. */
const untoldOf = (what: string, project: string): Verdict => ({
  state: 'unknown',
  what,
  mend: `${applyTerraform}. If it stays so, see who may what: gcloud projects get-iam-policy ${project}`,
});

export const grantsOf = (name: Holder, by: Asker): Finding =>
  defineFinding({
    code: `grants-${name}`,
    title: `Grants of ${name}`,
    why: 'Without them it fails at its first call.',
    by,
    about: [],
    async ask({ context }: Asking) {
      const { project } = context.config;
      try {
        return { project, missing: (await missingGrants(context, name)).join(', ') };
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'cloud-permission') throw error;
        return { project, untold: error.detail };
      }
    },
    judge({ project, missing, untold }) {
      if (untold !== undefined) return untoldOf(untold, project);
      if (missing === '') return ok(`all ${countOf(name)} in ${project}`);
      return stop(lacking(name, missing, project));
    },
  });

export const grants: readonly Finding[] = [
  grantsOf('bootstraps', 'bootstraps'),
  grantsOf('run-cloud-step', 'check'),
  ...reporters.map((name) => grantsOf(name, name)),
];
