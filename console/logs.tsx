/** What one instance said on machines: the last of it, and what is added while it runs. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LogPage, LogView } from '../shared/bootstrap/log.js';
import { call, path } from './calls.js';

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
  const end = useRef<HTMLPreElement>(null);
  const isLive = useRef(live);
  isLive.current = live;
  const { instance } = log;

  useEffect(() => {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let offset = Math.max(log.begins, log.bytes - shownBytes);
    setText('');
    setCut(offset > log.begins);
    const read = async (): Promise<void> => {
      const query = `?instance=${encodeURIComponent(instance)}&offset=${offset}`;
      const page = await call<LogPage>('bootstraps', 'GET', path`/bootstraps/${bootstrap}/logs` + query, {
        signal: gone.signal,
      }).catch(() => undefined);
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

  useEffect(() => {
    const pre = end.current;
    if (pre !== null && pre.scrollHeight - pre.scrollTop - pre.clientHeight < 200) pre.scrollTop = pre.scrollHeight;
  }, [text]);

  return (
    <section aria-label={`Log of ${title}`}>
      <h3>{title}</h3>
      {cut && <p class="dim">The beginning is left out.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it */}
      <pre class="log" role="log" ref={end} tabIndex={0} aria-label={`What ${title} said`}>
        {text === '' ? (live ? 'It has said nothing yet.' : 'Loading …') : text}
      </pre>
    </section>
  );
}
