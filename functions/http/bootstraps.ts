/** The bootstrap API: one small function a route over the engine. Called by functions/index.ts for the function `bootstraps`. */
import { bootstrapRoutes, problemRoutes } from '../../shared/api.js';
import { flags, isSecret, type Option } from '../../shared/bootstrap/options.js';
import { acceptOptions } from '../../shared/bootstrap/rules.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import {
  beginOrResume,
  cancel,
  findByName,
  getBootstrap,
  listBootstraps,
  planOf,
  readEvents,
  readFile,
  readProgress,
  recordAction,
  type StoredBootstrap,
  summaryOf,
  viewOf,
} from '../engine/bootstraps.js';
import { createStepSecrets } from '../engine/call.js';
import type { AnyStep } from '../engine/step.js';
import { ageIdentity, ageIdentitySecret } from '../steps/config/age-identity.js';
import { type Caller, createVerifier } from './auth.js';
import { scheduleHandlers } from './cleanup-schedule.js';
import { type StreamTimes, streamEvents, streamTimes } from './event-stream.js';
import { checkForge1Token } from './forge1-token.js';
import { lifeHandlers } from './life.js';
import { checkAllowed, checkMayBootstrap } from './permission.js';
import { problemHandlers } from './problem-pages.js';
import { createRouter, type Handlers, type HttpFunction } from './router.js';

export const createBootstrapsFunction = (
  context: Context,
  steps: readonly AnyStep[],
  times: StreamTimes = streamTimes,
): HttpFunction =>
  createRouter({
    context,
    routes: { ...bootstrapRoutes, ...problemRoutes },
    handlers: { ...bootstrapHandlers(context, steps, times), ...problemHandlers },
    authenticate: createVerifier(context).authenticate,
    secretsIn,
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
  const maySee = (caller: Caller, { data }: StoredBootstrap): boolean => caller.operator || data.owner === caller.email;

  /** What a caller may not see looks to them as if it were not there. */
  async function visible(id: string, caller: Caller): Promise<StoredBootstrap> {
    const found = await getBootstrap(context, id);
    if (found === undefined || !maySee(caller, found)) throw new Problem('not-found', `There is no bootstrap ${id}.`);
    return found;
  }

  async function fileOf(kind: 'config' | 'secrets', id: string, datacenter: string, caller: Caller) {
    const { data } = await visible(id, caller);
    if (datacenter === 'dc2' && data.options['multiDc'] !== true) {
      throw new Problem('not-found', 'The bootstrap has one datacenter, dc1.');
    }
    const body = await readFile(context, id, `${kind}-${datacenter}`);
    if (body === undefined) throw notYet(`The ${kind} of ${datacenter}`);
    return { status: 200, headers: { 'content-type': 'text/yaml; charset=utf-8' }, body };
  }

  return {
    async beginBootstrap({ caller, query, body, traceId, gone }) {
      checkMayBootstrap(config, caller);
      const given = body.options;
      const { options, secrets, warnings } = acceptOptions(given, { strict: body.strict });
      checkAllowed(config, options);
      if (query.dryRun) return { status: 200, body: { instances: planOf(steps, options), warnings } };

      if (secrets.forge1Pat !== undefined) await checkForge1Token(config.forge1ApiUrl, secrets.forge1Pat, gone);
      const { sshPublicKey, base } = body;
      const facts = { caller, options, secrets, given, sshPublicKey, base, warnings, trace: { id: traceId } };
      const { bootstrap, created, changes } = await beginOrResume(context, steps, facts);
      return { status: created ? 201 : 200, body: { bootstrap: await view(bootstrap), created, changes, warnings } };
    },

    async listBootstraps({ caller, query: { all, name } }) {
      if (all && !caller.operator) throw new Problem('forbidden', "Everybody's bootstraps are for operators.");
      if (name !== undefined && caller.operator) {
        const found = await findByName(context, name);
        return { status: 200, body: found === undefined ? [] : [summaryOf(found)] };
      }
      const found = await listBootstraps(context, all ? {} : { owner: caller.email });
      const named = found.filter(
        ({ id, data }) => name === undefined || [data.name, data.projectId, id].includes(name),
      );
      return { status: 200, body: named.map(summaryOf) };
    },

    async getBootstrap({ caller, params }) {
      return { status: 200, body: await view(await visible(params.id, caller)) };
    },

    async followBootstrap({ caller, params: { id }, query, headers, gone }) {
      await visible(id, caller);
      const cursor = headers['last-event-id'] || query.cursor;
      // Once the stream has begun a faulty cursor could not be told any more.
      if (cursor !== undefined) await readEvents(context, id, cursor);
      const source = {
        readEvents: (after: string | undefined) => readEvents(context, id, after),
        readProgress: () => readProgress(context, id),
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
        body: streamEvents(source, { cursor, gone, times }),
      };
    },

    async cancelBootstrap({ caller, params }) {
      await visible(params.id, caller);
      return { status: 200, body: await view(await cancel(context, steps, params.id, caller.email)) };
    },

    getConfig: ({ caller, params, query }) => fileOf('config', params.id, query.datacenter, caller),
    getSecrets: ({ caller, params, query }) => fileOf('secrets', params.id, query.datacenter, caller),

    async readAgeIdentity({ caller, params: { id } }) {
      const identity = await ageIdentityOf(context, await visible(id, caller));
      if (identity === undefined) throw notYet('The age identity');
      // Who has it is on record before they have it.
      await recordAction(context, id, caller.email, 'age-identity');
      return { status: 200, body: { identity } };
    },

    ...lifeHandlers(context, steps, { visible, view }),
    ...scheduleHandlers(context),
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
