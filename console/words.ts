/** Amounts, times and states in the words that people read. */
import type { BootstrapSummary, InstanceView } from '../shared/bootstrap/bootstrap.js';
import { formatSeconds } from '../shared/bootstrap/duration.js';

/** `1h 5m`, `2d 3h`, `42s`, `0.4s`. `0s` for what is over. */
export const span = (ms: number): string => formatSeconds(Math.max(0, ms / 1000));

/** Whole minutes: it does not change each second. */
const spanInMinutes = (ms: number): string => (ms < 60_000 ? span(ms) : span(Math.floor(ms / 60_000) * 60_000));

const clock = new Intl.DateTimeFormat(undefined, {
  ...{ year: 'numeric', month: 'short', day: 'numeric' },
  ...{ hour: 'numeric', minute: '2-digit', timeZoneName: 'short' },
});
export const time = (iso: string): string => clock.format(new Date(iso));

export const money = (amount: number | undefined, currency: string): string =>
  amount === undefined ? '–' : `${amount.toFixed(2)} ${currency}`;

type Lived = Pick<BootstrapSummary, 'state' | 'createdAt' | 'deadlineAt' | 'protection' | 'endedAt' | 'removal'>;

export const removeAtOf = ({ deadlineAt, protection }: Pick<Lived, 'deadlineAt' | 'protection'>): string =>
  protection !== undefined && protection.until > deadlineAt ? protection.until : deadlineAt;

export interface Left {
  readonly text: string;
  /** 0 to 1. Undefined: it has no time of its own any more. */
  readonly share: number | undefined;
  readonly soon: boolean;
}

export function leftOf(lived: Lived, now: number): Left {
  const { state, removal, endedAt } = lived;
  const none = (text: string): Left => ({ text, share: undefined, soon: false });
  if (state === 'removed')
    return none(endedAt === undefined ? 'gone' : `gone ${spanInMinutes(now - Date.parse(endedAt))} ago`);
  if (removal?.quarantinedAt !== undefined) return none('left alone');
  if (removal !== undefined) return none(state === 'removal-failed' ? 'tried again' : 'going');
  const [from, to] = [Date.parse(lived.createdAt), Date.parse(removeAtOf(lived))];
  const ms = to - now;
  if (ms <= 0) return { text: 'over', share: 0, soon: true };
  return { text: `${spanInMinutes(ms)} left`, share: Math.min(1, ms / Math.max(1, to - from)), soon: ms < 3_600_000 };
}

export type Tone = 'going' | 'good' | 'bad' | 'warn' | 'quiet';

export const toneOf: Readonly<Record<BootstrapSummary['state'], Tone>> = {
  running: 'going',
  cancelling: 'going',
  succeeded: 'good',
  'succeeded-with-warnings': 'warn',
  failed: 'bad',
  cancelled: 'quiet',
  removing: 'going',
  'removal-failed': 'bad',
  removed: 'quiet',
};

export const stateWords = (state: BootstrapSummary['state']): string =>
  state === 'succeeded-with-warnings' ? 'succeeded, with warnings' : state.replace('-', ' ');

export const isEnded = (state: InstanceView['state']): boolean =>
  state === 'done' || state === 'failed' || state === 'cancelled' || state === 'gone';

export const plural = (count: number, one: string, more = `${one}s`): string => `${count} ${count === 1 ? one : more}`;
