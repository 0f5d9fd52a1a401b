/** `--set` of `npm run local`: settings of the deployment, read and checked as the functions of a deployment do. */
import { googleApis, readConfig, type SettingName, settings } from '../../functions/config.js';
import { functionNames } from '../../shared/names.js';
import { nearest } from '../../shared/nearest.js';
import { Problem } from '../../shared/problems.js';
import { type DeployedFacts, environmentOf, type FunctionEnvironment, withSettings } from './deployment.js';

export const settingsUsage = `  --set NAME=VALUE     one setting of the deployment, such as PLINTH_LOAD_BALANCERS=internal or PLINTH_USD_PER_HOUR=2;
                       repeatable. docs/reference/settings.md lists them all
`;

const isSetting = (name: string): name is SettingName => Object.hasOwn(settings, name);

/** Stands for the addresses that are known once the stack runs. */
const somewhere = 'http://127.0.0.1:1';
const facts: DeployedFacts = {
  origin: somewhere,
  endpoints: Object.fromEntries(googleApis.map((api) => [api, somewhere])) as DeployedFacts['endpoints'],
  issuerUrl: somewhere,
  forge1Url: somewhere,
};

/** Reads the option. Throws sentences for people, all faults at once. */
export function readSettingsOption(set: readonly string[] = []): FunctionEnvironment {
  const given: FunctionEnvironment = {};
  const faults: string[] = [];
  for (const text of set) {
    const at = text.indexOf('=');
    const name = text.slice(0, at);
    if (at < 1) faults.push(`--set must be NAME=VALUE, not "${text}".`);
    else if (!isSetting(name)) faults.push(`--set ${name}: there is no such setting. ${meant(name)}`);
    else if (given[name] !== undefined) faults.push(`--set ${name} is given twice.`);
    else given[name] = text.slice(at + 1);
  }
  faults.push(...faultsOf(given));
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return given;
}

function meant(name: string): string {
  const near = nearest(name, Object.keys(settings));
  return near === undefined ? 'docs/reference/settings.md lists them all.' : `Did you mean ${near}?`;
}

/** Every function has the same schema, so one is read for all. */
function faultsOf(given: FunctionEnvironment): string[] {
  try {
    readConfig(withSettings(environmentOf(functionNames.bootstraps, facts), given));
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return (error.errors ?? []).map(({ path, message }) => `--set ${path}: ${message}`);
  }
}
