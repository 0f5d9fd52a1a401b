/** The options that `plinth init` asks for, or takes as flags. All of them are texts. */
import type { Option } from '../../shared/bootstrap/options.js';

export const askedOptions = [
  'projectName',
  'billingAccount',
  'baseDomain',
  'folderId',
  'zone',
  'dnsProjectId',
  'dnsZoneName',
  'projectTtl',
  'registryUser',
  'forge1AppClientId',
  'installVersion',
] as const satisfies readonly Option[];
type AskedOption = (typeof askedOptions)[number];
export type Answers = { [O in AskedOption]?: string };
