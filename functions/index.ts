/**
 * Every deployable on one screen: its name, its trigger, and the modules imported by its first call. Google loads main.ts with
 * all of them, or a bundle with one. `local/` registers them with contexts of its own.
 */
import { type HttpFunction, http } from '@google-cloud/functions-framework';
import { type FunctionName, functionNames } from '../shared/names.js';
import type { Context } from './context.js';
import { onFirstMessage, onFirstRequest } from './first-use.js';
import { onDelivery } from './http/delivery.js';
import { takeFrameworkServers } from './http/framework-server.js';
import type { MessagePublished } from './triggers/run-step.js';

type Key = keyof typeof functionNames;
type Load<F> = (context: Context) => Promise<F>;
type ContextOf = (name: FunctionName) => Context;
type Deployable = (contextOf: ContextOf) => void;

/** An HTTP function for people, the CLI or Cloud Scheduler. */
const onRequest =
  (key: Key, load: Load<HttpFunction>): Deployable =>
  (contextOf) => {
    const name = functionNames[key];
    http(
      name,
      onFirstRequest(name, async () => load(contextOf(name))),
    );
  };

/** A function for the messages of a lane's topic. */
const onMessage =
  (key: Key): Deployable =>
  (contextOf) => {
    const name = functionNames[key];
    const handle = onFirstMessage(name, async () => {
      const [{ runStep }, { stepsOf }, { createReport }, { deploymentFindings }] = await Promise.all([
        import('./triggers/run-step.js'),
        import('./steps/index.js'),
        import('./preflight/deployment/reports.js'),
        import('./preflight/deployment/index.js'),
      ]);
      const context = contextOf(name);
      const steps = stepsOf(context.config);
      const own = deploymentFindings.filter(({ by }) => by === name);
      const report = createReport(context, name, own);
      return async (event: MessagePublished) => {
        try {
          await runStep(context, steps, event);
        } finally {
          await report(event.source?.split('/').at(-1));
        }
      };
    });
    http(name, onDelivery(handle));
  };

// A bundle holds one of these and its imports. The annotation allows the bundler to leave out the others.

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

export const check = /* @__PURE__ */ onRequest('check', async (context) =>
  (await import('./http/check.js')).createCheckFunction(context),
);

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
  check,
};

/** The first call of a function asks for its context. Registering again replaces earlier functions. */
export function register(chosen: Iterable<Deployable>, contextOf: ContextOf): void {
  takeFrameworkServers();
  for (const deployable of chosen) deployable(contextOf);
}
