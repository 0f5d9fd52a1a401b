/** Follows the events of a bootstrap, so that the page looks again when something has happened. */
import { createParser } from 'eventsource-parser';
import { lasts, path, reply } from './calls.js';

/** So often at most, however many events come. */
const restMs = 700;
const retryMs = 2000;

/** Calls `onNews` soon after each event. Returns what ends it. */
export function followEvents(id: string, onNews: () => void): () => void {
  const gone = new AbortController();
  let cursor: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  const news = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      onNews();
    }, restMs);
  };
  const parser = createParser({
    onEvent({ id: place, event, data }) {
      if (place !== undefined) cursor = place;
      ended ||= event === 'end' && data.includes('"ended"');
      if (event !== 'log' && event !== 'call') news();
    },
  });
  const listen = async (): Promise<void> => {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const { body } = await reply('bootstraps', 'GET', path`/bootstraps/${id}/events` + query, { signal: gone.signal });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done || value === undefined) return;
      parser.feed(value);
    }
  };
  void (async () => {
    while (!gone.signal.aborted && !ended) {
      await listen().catch((error: unknown) => {
        ended ||= lasts(error);
      });
      parser.reset();
      if (!gone.signal.aborted && !ended) await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  })();
  return () => {
    gone.abort();
    clearTimeout(timer);
  };
}
