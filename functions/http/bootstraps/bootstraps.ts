/** The bootstrap API: one small handler for each route, on top of the engine. */

import { descriptionRoutes, healthRoutes, problemRoutes } from '../../../shared/api.js';
import { flags, isSecret, type Option } from '../../../shared/bootstrap/options.js';
import { bootstrapRoutes } from '../../../shared/bootstrap/routes.js';
import type { SecretRedactor } from '../../../shared/secret-redactor.js';
import { registerNamed, registerScalars } from '../../../shared/secret-texts.js';
import { beginOrResume } from '../../bootstraps/begin/begin.js';
import { wakeInstance } from '../../bootstraps/lifetime/wake.js';
import { cancel } from '../../bootstraps/removal/stop.js';
import { restoreBootstrap } from '../../bootstraps/restore/restore.js';
import { summaryOf, viewOf } from '../../bootstraps/view.js';
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import type { AnyStep } from '../../engine/step.js';
import { createVerifier } from '../../identity/auth.js';
import { withCors } from '../cors.js';
import { healthHandlers } from '../health.js';
import { documentHandlers } from '../openapi/description.js';
import { problemHandlers } from '../openapi/problem-pages.js';
import { createPages, pageIn } from '../paging.js';
import { countChange } from '../rate-limit.js';
import { createRouter, type Handlers, type HttpFunction } from '../router.js';
import { createAccess } from './access.js';
import { judge, objectionsTo } from './asked.js';
import { callerHandlers } from './caller.js';
import { costHandlers } from './costs.js';
import { deploymentHandlers } from './deployment.js';
import { dryRunOf } from './dry-run.js';
import { type StreamTimes, streamTimes } from './event-stream.js';
import { fileHandlers } from './files.js';
import { followHandlers } from './follow.js';
import { lifeHandlers } from './life.js';
import { listFor } from './listed.js';
import { checkOperator, operatorHandlers } from './operators.js';
import { checkMayBootstrap } from './permission.js';
import { preflightHandlers } from './preflight.js';
import { recoveryHandlers } from './recovery.js';

export const createBootstrapsFunction = (
  context: Context,
  steps: readonly AnyStep[],
  times: StreamTimes = streamTimes,
): HttpFunction =>
  withCors(
    context.config.console?.url,
    createRouter({
      context,
      routes: { ...bootstrapRoutes, ...descriptionRoutes, ...healthRoutes, ...problemRoutes },
      handlers: {
        ...bootstrapHandlers(context, steps, times),
        ...documentHandlers(async () => (await import('./api.js')).bootstrapsApi),
        ...healthHandlers(context),
        ...problemHandlers,
      },
      authenticate: createVerifier(context).authenticate,
      registerSecrets,
      objections: {
        beginBootstrap: async ({ caller, body, query, gone }) => {
          checkMayBootstrap(context.config, caller);
          return objectionsTo(context, steps, { caller, body, dryRun: query['dryRun'] === 'true', gone });
        },
      },
    }),
  );

/** Those of a body, even if it fits no schema: the caller's, and what a file of theirs has in clear. */
function registerSecrets(redactor: SecretRedactor, body: unknown): void {
  const { options, base } = (body ?? {}) as { readonly options?: unknown; readonly base?: unknown };
  for (const [name, value] of Object.entries(options ?? {})) {
    if (Object.hasOwn(flags, name) && isSecret(name as Option) && typeof value === 'string') redactor.register(value);
  }
  for (const files of Object.values(base ?? {}) as unknown[]) {
    const { config, secrets } = (files ?? {}) as { readonly config?: unknown; readonly secrets?: unknown };
    if (typeof config === 'string') registerNamed(redactor, config);
    if (typeof secrets === 'string') registerScalars(redactor, secrets);
  }
}

function bootstrapHandlers(
  context: Context,
  steps: readonly AnyStep[],
  times: StreamTimes,
): Handlers<typeof bootstrapRoutes> {
  const { config } = context;
  const view = (found: StoredBootstrap) => viewOf(context, steps, found);
  const access = createAccess(context);
  const answerInPages = createPages(context);
  const { visible, owned, changing } = access;
  return {
    async beginBootstrap({ caller, query: { dryRun }, body, span, gone }) {
      checkMayBootstrap(config, caller);
      const depth = dryRun ? 'plan' : 'all';
      const judged = await judge(context, steps, { caller, body, gone, trace: span }, { depth });
      if (!judged.seen) await countChange(context, caller);
      if (dryRun) return { status: 200, body: await dryRunOf(context, steps, judged.facts) };
      const facts = { ...judged.facts, trace: span };
      const begun =
        body.takeUp === undefined
          ? await beginOrResume(context, steps, facts)
          : await restoreBootstrap(context, steps, facts, body.takeUp);
      const { bootstrap, created, changes } = begun;
      const told = [...(created ? bootstrap.data.warnings : facts.warnings)];
      return {
        status: created ? 201 : 200,
        body: { bootstrap: await view(bootstrap), created, changes, warnings: told },
      };
    },

    async listBootstraps({ caller, query }) {
      const { all } = query;
      if (all) checkOperator(caller, "Everybody's bootstraps are for operators.");
      const kept = keptOf(query);
      return answerInPages(bootstrapRoutes.listBootstraps, { caller, query, kept }, async (page) => {
        const { items, next } = pageIn(await listFor(context, caller, query), page);
        const shown = await Promise.all(items.map((found) => summaryOf(context, steps, found)));
        return { items: shown, ...(next !== undefined && { next }) };
      });
    },

    async getBootstrap({ caller, params }) {
      return { status: 200, body: await view(await visible(params.id, caller)) };
    },

    async cancelBootstrap({ caller, params }) {
      await changing.owned(params.id, caller);
      return { status: 200, body: await view(await cancel(context, steps, params.id, caller.email)) };
    },

    async wakeInstance({ caller, params }) {
      await changing.owned(params.id, caller);
      await wakeInstance(context, params.id, params.instance);
      return { status: 200, body: await view(await owned(params.id, caller)) };
    },

    ...preflightHandlers(context, steps),
    ...followHandlers(context, steps, access, times),
    ...fileHandlers(context, access),
    ...lifeHandlers(context, steps, access, view),
    ...recoveryHandlers(context),
    ...operatorHandlers(context, steps, view),
    ...costHandlers(context),
    ...callerHandlers(context),
    ...deploymentHandlers(context, steps),
  };
}

/** What the next page of a list asks again. */
const keptOf = ({ all, name, team }: Parameters<typeof listFor>[2]): Readonly<Record<string, string>> => ({
  ...(all && { all: 'true' }),
  ...(name !== undefined && { name }),
  ...(team !== undefined && { team: String(team) }),
});
