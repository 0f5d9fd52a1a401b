/** Commands by which an operator mends a deployment. */
import type { FunctionName } from '../../../shared/names.js';
import type { Config } from '../../config.js';

type Where = Pick<Config, 'project' | 'schedulerRegion'>;

/** Brings back what terraform makes. */
export const applyTerraform = 'Apply terraform again (terraform apply)';

/** Shows what a function has logged. */
export const logsOf = (name: FunctionName, { project, schedulerRegion }: Where): string =>
  `gcloud functions logs read ${name} --region=${schedulerRegion} --project=${project}`;

/** Shows which function each trigger calls. */
export const triggersOf = ({ project, schedulerRegion }: Where): string =>
  `gcloud eventarc triggers list --location=${schedulerRegion} --project=${project}`;
