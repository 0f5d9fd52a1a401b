/**
 * All settings of the functions, which read process.env only here. Each room declares its own rows, in a file settings.ts. Docs
 * and terraform list the table that they make together.
 */
import { type Fault, Problem } from '../shared/problems.js';
import { type BootstrapsConfig, bootstrapSettings, readBootstraps } from './bootstraps/settings.js';
import { type CloudConfig, cloudSettings, readCloud } from './cloud/settings.js';
import { type ConsoleConfig, consoleFaults, consoleSettings, readConsole } from './console/settings.js';
import { type CostConfig, costFaults, costSettings, readCost } from './cost/settings.js';
import { type EndpointsConfig, endpointSettings, readEndpoints } from './endpoints.js';
import { type HostConfig, hostSettings, readHost } from './host/settings.js';
import { type IdentityConfig, identitySettings, readIdentity } from './identity/settings.js';
import { type OrganizationsConfig, organizationSettings, readOrganizations } from './organizations/settings.js';
import { type PoolsConfig, poolFaults, poolSettings, readPools } from './pools/setting.js';
import type { Rows, Setting, Values } from './setting.js';
import { readSteps, type StepsConfig, stepFaults, stepSettings } from './steps/settings.js';
import { readStore, type StoreConfig, storeSettings } from './store/settings.js';
import { readTracing, type TracingConfig, tracingSettings } from './tracing/settings.js';
import { readWebhook, type WebhookConfig, webhookSettings } from './webhook/settings.js';

export { type GoogleApi, googleApis } from './endpoints.js';

export interface Config
  extends HostConfig,
    IdentityConfig,
    OrganizationsConfig,
    BootstrapsConfig,
    PoolsConfig,
    CostConfig,
    StepsConfig,
    ConsoleConfig,
    WebhookConfig,
    CloudConfig,
    StoreConfig,
    TracingConfig,
    EndpointsConfig {}

export const settings = {
  ...hostSettings,
  ...identitySettings,
  ...organizationSettings,
  ...bootstrapSettings,
  ...poolSettings,
  ...costSettings,
  ...stepSettings,
  ...consoleSettings,
  ...webhookSettings,
  ...cloudSettings,
  ...storeSettings,
  ...tracingSettings,
  ...endpointSettings,
} satisfies Rows;
export type SettingName = keyof typeof settings;
/** The environment of one function, as terraform would give it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as unset. Throws a Problem with all faults at once. */
function readValues(env: Environment): Values<typeof settings> {
  const faults: Fault[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries<Setting>(settings)) {
    const given = env[name]?.trim() || row.default;
    if (given === undefined) {
      if (row.required) faults.push({ path: name, message: `is not set. ${row.help}` });
      continue;
    }
    const read = row.schema.safeParse(given);
    if (read.success) values[name] = read.data;
    else faults.push({ path: name, message: read.error.issues.map((issue) => issue.message).join('; ') });
  }
  for (const faultsOf of [poolFaults, costFaults, stepFaults, consoleFaults]) {
    faults.push(...faultsOf(values as Partial<Values<typeof settings>>));
  }
  if (faults.length > 0) {
    const told = faults.map(({ path, message }) => `${path} ${message}`).join('; ');
    throw new Problem('bad-input', `The settings are faulty: ${told}`, { errors: faults });
  }
  return values as Values<typeof settings>;
}

/** Throws a Problem with all faults at once. */
export function readConfig(env: Environment): Config {
  const read = readValues(env);
  return {
    ...readHost(read),
    ...readIdentity(read),
    ...readOrganizations(read),
    ...readBootstraps(read),
    ...readPools(read),
    ...readCost(read),
    ...readSteps(read),
    ...readConsole(read),
    ...readWebhook(read),
    ...readCloud(read),
    ...readStore(read),
    ...readTracing(read),
    ...readEndpoints(read),
  };
}

/** The settings of the function in this process. */
export const readProcessConfig = (): Config => readConfig(process.env);

/**
 * Else the functions framework answers with the text of an error that nobody caught, and even answers somebody else's request
 * with it, the latest one.
 */
export const hideErrorTexts = (): void => {
  process.env['NODE_ENV'] = 'production';
};
