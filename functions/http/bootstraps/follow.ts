/** Streams a bootstrap's events, and serves its machine logs. */
import type { bootstrapRoutes } from '../../../shared/bootstrap/routes.js';
import { collections } from '../../../shared/names.js';
import { forecastOf } from '../../bootstraps/view.js';
import type { Context } from '../../context.js';
import type { LogPlaces } from '../../engine/record/cursor.js';
import { readEvents, readProgress } from '../../engine/record/events.js';
import { listLogs, readLog, readLogNews } from '../../engine/record/read-log.js';
import type { AnyStep } from '../../engine/step.js';
import type { Handlers } from '../router.js';
import type { Access } from './access.js';
import { type StreamTimes, streamEvents } from './event-stream.js';

type Routes = Pick<typeof bootstrapRoutes, 'followBootstrap' | 'readLogs'>;

export function followHandlers(
  context: Context,
  steps: readonly AnyStep[],
  { visible }: Access,
  times: StreamTimes,
): Handlers<Routes> {
  const { store, clock } = context;
  // Only the host lane runs jobs that write machine logs.
  const onMachines = new Set(steps.filter(({ lane }) => lane === 'host').map(({ name }) => name));
  const mayTalk = (instance: string): boolean => onMachines.has(instance.split(':')[0] ?? '');

  return {
    async followBootstrap({ caller, params: { id }, query, headers, gone }) {
      const found = await visible(id, caller);
      const cursor = headers['last-event-id'] || query.cursor;
      // Check the cursor now. Once the stream has begun, it can't report a faulty one.
      if (cursor !== undefined) await readEvents(context, id, cursor, found);
      let latest = found;
      let lookAt = 0;
      /** Throws once the caller may not see it any more. */
      const look = async () => {
        lookAt = clock.now().getTime() + times.commentSeconds * 1000;
        latest = await visible(id, caller);
        return latest;
      };
      const source = {
        // Check access at each change of the record, which may have ended the sharing.
        readEvents: async (after: string | undefined) => readEvents(context, id, after, await look()),
        readForecast: async () => (await forecastOf(context, steps, latest.data)).forecast,
        async readProgress() {
          // Who leaves its team changes nothing of the record.
          if (clock.now().getTime() >= lookAt) await look();
          return readProgress(context, id);
        },
        readLogs: (told: LogPlaces, instances: readonly string[]) =>
          readLogNews(context, id, told, instances.filter(mayTalk)),
        readState: async () => (await look()).data.state,
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
        body: streamEvents(context, source, { cursor, gone, times }),
      };
    },

    async readLogs({ caller, params: { id }, query: { instance, offset = 0 } }) {
      await visible(id, caller);
      const body = instance === undefined ? await listLogs(context, id) : await readLog(context, id, instance, offset);
      return { status: 200, body };
    },
  };
}
