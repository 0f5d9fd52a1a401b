/**
 * Every deployable on one screen: its name, what triggers it, and the module that is imported when it is first called. Google
 * loads this file for each function, with the settings of that one; `local/` registers them with contexts of its own.
 */
import { cloudEvent, type HttpFunction, http } from '@google-cloud/functions-framework';
import { type FunctionName, functionNames } from '../shared/names.js';
import { readProcessConfig } from './config.js';
import { type Context, createContext } from './context.js';
import type { MessagePublished } from './events/run-step.js';
import { ownFrameworkBodies } from './http/bodies.js';
import { onFirstUse } from './http/first-use.js';

type Load<F> = (context: Context) => Promise<F>;

const lane: Load<(event: MessagePublished) => Promise<void>> = async (context) => {
  const [{ runStep }, { steps }] = await Promise.all([import('./events/run-step.js'), import('./steps/index.js')]);
  return (event) => runStep(context, steps, event);
};

/** Called by people and the CLI, by Cloud Scheduler. */
const onRequest: Partial<Record<FunctionName, Load<HttpFunction>>> = {
  [functionNames.bootstraps]: async (context) => {
    const [{ createBootstrapsFunction }, { steps }] = await Promise.all([
      import('./http/bootstraps.js'),
      import('./steps/index.js'),
    ]);
    return createBootstrapsFunction(context, steps);
  },
  [functionNames.api]: async (context) =>
    (await import('./http/organizations.js')).createOrganizationsFunction(context),
  [functionNames.sweep]: async (context) => (await import('./events/sweep.js')).createSweepFunction(context),
  [functionNames.cleanup]: async (context) => {
    const [{ createCleanupFunction }, { steps }] = await Promise.all([
      import('./events/cleanup.js'),
      import('./steps/index.js'),
    ]);
    return createCleanupFunction(context, steps);
  },
};

/** Called with the messages of a lane's topic. */
const onMessage: Partial<Record<FunctionName, typeof lane>> = {
  [functionNames.runCloudStep]: lane,
  [functionNames.runHostStep]: lane,
};

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

/** Contexts are asked for on first call, one a function. Registering again replaces what was registered before. */
export function registerFunctions(contextOf: (name: FunctionName) => Context): void {
  ownFrameworkBodies();
  for (const [name, load] of Object.entries(onRequest) as [FunctionName, Load<HttpFunction>][]) {
    http(
      name,
      onFirstUse(async () => load(contextOf(name))),
    );
  }
  for (const [name, load] of Object.entries(onMessage) as [FunctionName, typeof lane][]) {
    const handler = once(() => load(contextOf(name)));
    cloudEvent<MessagePublished['data']>(name, async (event: MessagePublished) => (await handler())(event));
  }
}

registerFunctions(once(() => createContext(readProcessConfig())));
