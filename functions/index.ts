/**
 * Every deployable on one screen: its name, what triggers it, and the modules that are imported when it is first called. Google
 * loads main.ts with all of them, or the bundle of the one; `local/` registers them with contexts of its own.
 */
import { cloudEvent, type HttpFunction, http } from '@google-cloud/functions-framework';
import { type FunctionName, functionNames } from '../shared/names.js';
import type { Context } from './context.js';
import { onFirstMessage, onFirstRequest } from './first-use.js';
import { ownFrameworkBodies } from './http/bodies.js';
import type { MessagePublished } from './triggers/run-step.js';

type Key = keyof typeof functionNames;
type Load<F> = (context: Context) => Promise<F>;
type ContextOf = (name: FunctionName) => Context;
type Deployable = (contextOf: ContextOf) => void;

/** Called by people and the CLI, by Cloud Scheduler. */
const onRequest =
  (key: Key, load: Load<HttpFunction>): Deployable =>
  (contextOf) => {
    const name = functionNames[key];
    http(
      name,
      onFirstRequest(name, async () => load(contextOf(name))),
    );
  };

/** Called with the messages of a lane's topic. */
const onMessage =
  (key: Key): Deployable =>
  (contextOf) => {
    const name = functionNames[key];
    cloudEvent<MessagePublished['data']>(
      name,
      onFirstMessage(name, async () => {
        const [{ runStep }, { stepsOf }] = await Promise.all([
          import('./triggers/run-step.js'),
          import('./steps/index.js'),
        ]);
        const context = contextOf(name);
        const steps = stepsOf(context.config);
        return (event: MessagePublished) => runStep(context, steps, event);
      }),
    );
  };

// A bundle holds one of these and what it imports: the annotation says that the others may be left out.

export const bootstraps = /* @__PURE__ */ onRequest('bootstraps', async (context) => {
  const [{ createBootstrapsFunction }, { stepsOf }] = await Promise.all([
    import('./http/bootstraps/bootstraps.js'),
    import('./steps/index.js'),
  ]);
  return createBootstrapsFunction(context, stepsOf(context.config));
});

export const api = /* @__PURE__ */ onRequest('api', async (context) =>
  (await import('./http/organizations/organizations.js')).createOrganizationsFunction(context),
);

export const sweep = /* @__PURE__ */ onRequest('sweep', async (context) =>
  (await import('./triggers/sweep.js')).createSweepFunction(context),
);

export const cleanup = /* @__PURE__ */ onRequest('cleanup', async (context) => {
  const [{ createCleanupFunction }, { stepsOf }] = await Promise.all([
    import('./triggers/cleanup.js'),
    import('./steps/index.js'),
  ]);
  return createCleanupFunction(context, stepsOf(context.config));
});

export const runCloudStep = /* @__PURE__ */ onMessage('runCloudStep');
export const runHostStep = /* @__PURE__ */ onMessage('runHostStep');

/** By the keys of `functionNames`. */
export const deployables: Readonly<Record<Key, Deployable>> = {
  bootstraps,
  api,
  runCloudStep,
  runHostStep,
  sweep,
  cleanup,
};

/** Contexts are asked for on first call, one a function. Registering again replaces what was registered before. */
export function register(chosen: Iterable<Deployable>, contextOf: ContextOf): void {
  ownFrameworkBodies();
  for (const deployable of chosen) deployable(contextOf);
}
