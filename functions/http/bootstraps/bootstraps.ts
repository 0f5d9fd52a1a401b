/** The bootstrap API: one small function a route over the engine. Called by functions/index.ts for the function `bootstraps`. */

import { descriptionRoutes, healthRoutes, problemRoutes } from '../../../shared/api.js';
import { flags, isSecret, type Option } from '../../../shared/bootstrap/options.js';
import { bootstrapRoutes } from '../../../shared/bootstrap/routes.js';
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { beginOrResume } from '../../bootstraps/begin-or-resume.js';
import { isBoundToAnother } from '../../bootstraps/bound.js';
import { cancel } from '../../bootstraps/cancel.js';
import { findByName, listBootstraps } from '../../bootstraps/find.js';
import { previewOf } from '../../bootstraps/preview.js';
import { recordAction } from '../../bootstraps/record-action.js';
import { takeUp } from '../../bootstraps/take-up.js';
import { summaryOf, viewOf } from '../../bootstraps/view.js';
import { wakeInstance } from '../../bootstraps/wake.js';
import type { Context } from '../../context.js';
import { costOfPlan } from '../../cost/of-bootstrap.js';
import type { LogPlaces } from '../../engine/record/cursor.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import { readEvents, readProgress } from '../../engine/record/events.js';
import { readFile } from '../../engine/record/files.js';
import { listLogs, readLog, readLogNews } from '../../engine/record/read-log.js';
import { createStepSecrets } from '../../engine/run/step-secrets.js';
import type { AnyStep } from '../../engine/step.js';
import { createVerifier } from '../../identity/auth.js';
import { ageIdentity, ageIdentitySecret } from '../../steps/config/age-identity.js';
import { healthHandlers } from '../health.js';
import { documentHandlers } from '../openapi/description.js';
import { problemHandlers } from '../openapi/problem-pages.js';
import { answerInPages, pageIn } from '../paging.js';
import { createRouter, type Handlers, type HttpFunction } from '../router.js';
import { createAccess } from './access.js';
import { admissionHandlers } from './admission.js';
import { judge, objectionsTo } from './asked.js';
import { scheduleHandlers } from './cleanup-schedule.js';
import { type StreamTimes, streamEvents, streamTimes } from './event-stream.js';
import { lifeHandlers } from './life.js';
import { checkMayBootstrap } from './permission.js';
import { recoveryHandlers } from './recovery.js';
import { standingHandlers } from './standing.js';
import { surveyHandlers } from './survey.js';

export const createBootstrapsFunction = (
  context: Context,
  steps: readonly AnyStep[],
  times: StreamTimes = streamTimes,
): HttpFunction =>
  createRouter({
    context,
    routes: { ...bootstrapRoutes, describeApi: descriptionRoutes.describeApi, ...healthRoutes, ...problemRoutes },
    handlers: {
      ...bootstrapHandlers(context, steps, times),
      ...documentHandlers(async () => (await import('./api.js')).bootstrapsApi),
      ...healthHandlers(context),
      ...problemHandlers,
    },
    authenticate: createVerifier(context).authenticate,
    secretsIn,
    objections: {
      beginBootstrap: async ({ caller, body, query, gone }) => {
        checkMayBootstrap(context.config, caller);
        return objectionsTo(context, steps, { caller, body, dryRun: query['dryRun'] === 'true', gone });
      },
    },
  });

/** Also of a body that fits no schema. */
function secretsIn(body: unknown): string[] {
  const options = (body as { options?: unknown } | null | undefined)?.options ?? {};
  return Object.entries(options).flatMap(([name, value]) =>
    Object.hasOwn(flags, name) && isSecret(name as Option) && typeof value === 'string' ? [value] : [],
  );
}

function bootstrapHandlers(
  context: Context,
  steps: readonly AnyStep[],
  times: StreamTimes,
): Handlers<typeof bootstrapRoutes> {
  const { config, store } = context;
  const view = (found: StoredBootstrap) => viewOf(context, steps, found);
  const access = createAccess(context);
  const { visible, owned, changing } = access;
  // Only on machines there are jobs that say something.
  const onMachines = new Set(steps.filter(({ lane }) => lane === 'host').map(({ name }) => name));
  const mayTalk = (instance: string): boolean => onMachines.has(instance.split(':')[0] ?? '');

  async function fileOf(kind: 'config' | 'secrets', { id, data }: StoredBootstrap, datacenter: string) {
    if (datacenter === 'dc2' && data.options['multiDc'] !== true) {
      throw new Problem('not-found', 'The bootstrap has one datacenter, dc1.');
    }
    const body = await readFile(context, id, `${kind}-${datacenter}`);
    if (body === undefined) throw notYet(`The ${kind} of ${datacenter}`);
    return { status: 200, headers: { 'content-type': 'text/yaml; charset=utf-8' }, body };
  }

  return {
    async beginBootstrap({ caller, query: { dryRun }, body, span, gone }) {
      checkMayBootstrap(config, caller);
      const { options, warnings, ...judged } = await judge(context, steps, { caller, body, dryRun, gone });
      if (dryRun) {
        const cost = costOfPlan(config.prices, options);
        return { status: 200, body: { instances: previewOf(steps, options), warnings, cost } };
      }
      const facts = { ...judged, options, warnings, trace: span };
      const begun =
        body.takeUp === undefined
          ? await beginOrResume(context, steps, facts)
          : await takeUp(context, steps, facts, body.takeUp);
      const { bootstrap, created, changes } = begun;
      const told = created ? [...bootstrap.data.warnings] : warnings;
      return {
        status: created ? 201 : 200,
        body: { bootstrap: await view(bootstrap), created, changes, warnings: told },
      };
    },

    async listBootstraps({ caller, query }) {
      const { all, name } = query;
      if (all && !caller.operator) throw new Problem('forbidden', "Everybody's bootstraps are for operators.");
      const list = async (): Promise<StoredBootstrap[]> => {
        if (name === undefined || !caller.operator) {
          const found = await listBootstraps(context, all ? {} : { person: caller.email });
          const theirs = all ? found : found.filter(({ data }) => !isBoundToAnother(data, caller));
          return theirs.filter(({ id, data }) => name === undefined || [data.name, data.projectId, id].includes(name));
        }
        const found = await findByName(context, name);
        return found === undefined ? [] : [found];
      };
      const kept = { ...(all && { all: 'true' }), ...(name !== undefined && { name }) };
      return answerInPages(bootstrapRoutes.listBootstraps, { caller, query, kept }, async (page) => {
        const { items, next } = pageIn(await list(), page);
        return { items: items.map((found) => summaryOf(context, found)), ...(next !== undefined && { next }) };
      });
    },

    async getBootstrap({ caller, params }) {
      return { status: 200, body: await view(await visible(params.id, caller)) };
    },

    async followBootstrap({ caller, params: { id }, query, headers, gone }) {
      const found = await visible(id, caller);
      const cursor = headers['last-event-id'] || query.cursor;
      // Once the stream has begun a faulty cursor could not be told any more.
      if (cursor !== undefined) await readEvents(context, id, cursor, found);
      const source = {
        // Asked at each change of the record, as one of them may be that it is not shared with them any more.
        readEvents: async (after: string | undefined) => readEvents(context, id, after, await visible(id, caller)),
        readProgress: () => readProgress(context, id),
        readLogs: (told: LogPlaces, instances: readonly string[]) =>
          readLogNews(context, id, told, instances.filter(mayTalk)),
        readState: async () => (await visible(id, caller)).data.state,
        watch: (onChange: () => void, onError: (error: unknown) => void) =>
          store.watch(collections.bootstraps, id, onChange, onError),
      };
      return {
        status: 200,
        // `no-transform` and the header for proxies: nothing may hold events back to compress or buffer them.
        headers: {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store, no-transform',
          'x-accel-buffering': 'no',
        },
        body: streamEvents(source, { cursor, gone, shutdown: context.shutdown, times }),
      };
    },

    async readLogs({ caller, params: { id }, query: { instance, offset = 0 } }) {
      await visible(id, caller);
      const body = instance === undefined ? await listLogs(context, id) : await readLog(context, id, instance, offset);
      return { status: 200, body };
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

    getConfig: async ({ caller, params, query }) =>
      fileOf('config', await visible(params.id, caller), query.datacenter),
    getSecrets: async ({ caller, params, query }) =>
      fileOf('secrets', await owned(params.id, caller), query.datacenter),

    async readAgeIdentity({ caller, params: { id } }) {
      const identity = await ageIdentityOf(context, await changing.owned(id, caller));
      if (identity === undefined) throw notYet('The age identity');
      // Who has it is on record before they have it.
      await recordAction(context, id, caller.email, 'age-identity');
      return { status: 200, body: { identity } };
    },

    ...lifeHandlers(context, steps, access, view),
    ...recoveryHandlers(context),
    ...scheduleHandlers(context),
    ...surveyHandlers(context, steps),
    ...admissionHandlers(context),
    ...standingHandlers(context),
  };
}

/** As soon as its step is done; undefined before. */
async function ageIdentityOf(context: Context, { id, data }: StoredBootstrap): Promise<string | undefined> {
  const output = data.instances[ageIdentity.name]?.output;
  if (output === undefined) return undefined;
  const { secretVersion } = ageIdentity.output.parse(output);
  return createStepSecrets(context, id, undefined, () => undefined).read(ageIdentitySecret, secretVersion);
}

const notYet = (what: string): Problem =>
  new Problem('conflict', `${what} is not made yet.`, {
    retryAfterSeconds: 5,
    advice: 'Ask again when its step is done.',
  });
