/** What one instance said on machines: the last of it, and what is added while it runs. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LogPage, LogView } from '../shared/bootstrap/log.js';
import { call, lasts, path, Refusal } from './calls.js';
import { Problem } from './parts.js';

/** So much of a long log is shown. The command line has all of it. */
const shownBytes = 100_000;
const shownCharacters = 200_000;

interface LogParts {
  readonly bootstrap: string;
  readonly log: LogView;
  readonly title: string;
  /** More may come. */
  readonly live: boolean;
}

export function Log({ bootstrap, log, title, live }: LogParts) {
  const [text, setText] = useState('');
  const [cut, setCut] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const pre = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  const isLive = useRef(live);
  isLive.current = live;
  const { instance } = log;

  useEffect(() => {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let offset = Math.max(log.begins, log.bytes - shownBytes);
    setText('');
    setCut(offset > log.begins);
    setRefusal(undefined);
    const read = async (): Promise<void> => {
      const query = `?instance=${encodeURIComponent(instance)}&offset=${offset}`;
      let page: LogPage | undefined;
      try {
        page = await call('bootstraps', 'GET', path`/bootstraps/${bootstrap}/logs` + query, { signal: gone.signal });
      } catch (error) {
        if (!gone.signal.aborted && error instanceof Refusal && lasts(error)) return setRefusal(error);
      }
      if (gone.signal.aborted) return;
      if (page !== undefined) {
        offset = page.next;
        const more = page.chunks.map((chunk) => chunk.text).join('');
        if (more !== '') setText((before) => (before + more).slice(-shownCharacters));
      }
      if (page?.more === true && page.chunks.length > 0) void read();
      else if (isLive.current || page === undefined) timer = setTimeout(() => void read(), 2000);
    };
    void read();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [bootstrap, instance]);

  // Before the browser tells of scrolling: text that has just come must not count as scrolled away from.
  useLayoutEffect(() => {
    if (pre.current !== null && atEnd.current) pre.current.scrollTop = pre.current.scrollHeight;
  }, [text]);

  return (
    <section aria-label={`Log of ${title}`}>
      <h3>{title}</h3>
      {cut && <p class="dim">The beginning is left out.</p>}
      {refusal && <Problem refusal={refusal} />}
      <pre
        class="log"
        role="log"
        ref={pre}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it
        tabIndex={0}
        aria-label={`What ${title} said`}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < 50;
        }}
      >
        {text === '' ? (live ? 'It has said nothing yet.' : refusal === undefined && 'Loading …') : text}
      </pre>
    </section>
  );
}
