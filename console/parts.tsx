/** Small parts of every view: what is wrong, what is awaited, a question in front of all, a word of state. */
import type { ComponentChildren, TargetedEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { BootstrapSummary } from '../shared/bootstrap/bootstrap.js';
import { Refusal } from './calls.js';
import type { Live } from './live.js';
import { stateWords, toneOf } from './words.js';

/** Each fault once: the detail names the first ones already. */
export const Problem = ({ refusal }: { refusal: Refusal }) => (
  <div class="problem" role="alert">
    <p>{refusal.detail}</p>
    {refusal.advice && <p>{refusal.advice}</p>}
  </div>
);

/** Shows what was read, above it what is wrong now, and in its place that it is awaited. */
export function Loaded<T>({ live, children }: { live: Live<T>; children: (data: T) => ComponentChildren }) {
  const { data, refusal, again } = live;
  return (
    <>
      {refusal && refusal.status !== 401 && (
        <div class="problem" role="alert">
          <p>
            {refusal.detail} {data !== undefined && 'This shows what was known before; it is tried again.'}
          </p>
          {refusal.advice && <p>{refusal.advice}</p>}
          <button type="button" onClick={again}>
            Try again
          </button>
        </div>
      )}
      {data === undefined ? refusal === undefined && <p class="awaited">Loading …</p> : children(data)}
    </>
  );
}

export const State = ({ state }: { state: BootstrapSummary['state'] }) => (
  <span class={`state ${toneOf[state]}`}>{stateWords(state)}</span>
);

/** Takes the focus when a view is opened, so that keyboards and screen readers begin there. */
export function Title({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

export interface QuestionParts {
  readonly title: string;
  /** What the button says: a verb. */
  readonly verb: string;
  readonly danger?: boolean;
  /** False: the answer is not complete yet. */
  readonly ready?: boolean;
  readonly children?: ComponentChildren;
  /** Throws a Refusal, which is shown. */
  act(form: FormData): Promise<void>;
  close(): void;
}

/** A question in front of all else. Escape and Cancel change nothing. What went wrong is shown within, and nothing is lost. */
export function Question({ title, verb, danger = false, ready = true, children, act, close }: QuestionParts) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [refusal, setRefusal] = useState<Refusal>();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const before = document.activeElement;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      // While it is open, nothing behind it takes the focus.
      shown?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (busy || !ready) return;
    setBusy(true);
    setRefusal(undefined);
    try {
      await act(new FormData(event.currentTarget));
      close();
    } catch (error) {
      setRefusal(error instanceof Refusal ? error : new Refusal(0, 'Something went wrong on this page.'));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={(event) => event.currentTarget.isConnected && close()}>
      <form onSubmit={submit}>
        <h2 id="question">{title}</h2>
        {children}
        {refusal && <Problem refusal={refusal} />}
        <div class="answers">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class={danger ? 'danger' : 'main'} disabled={busy || !ready}>
            {busy ? `${verb} …` : verb}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** Copies a text, and says so. */
function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      {copied ? 'Copied' : label}
    </button>
  );
}

export const Command = ({ text }: { text: string }) => (
  <p class="command">
    <code>{text}</code> <Copy text={text} />
  </p>
);
