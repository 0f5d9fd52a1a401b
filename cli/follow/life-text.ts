/** How long a bootstrap has existed and how long it will stay, in words. */

import type { BootstrapSummary, BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { formatSeconds } from '../../shared/bootstrap/duration.js';
import { calledBy } from '../../shared/command-words.js';
import { time } from '../frame/table.js';

type Lived = Pick<BootstrapSummary, 'state' | 'createdAt' | 'deadlineAt' | 'protection' | 'endedAt' | 'removal'>;

/** The earliest time at which cleanup may remove it. */
export const removeAtOf = ({ deadlineAt, protection }: Pick<Lived, 'deadlineAt' | 'protection'>): string =>
  protection !== undefined && protection.until > deadlineAt ? protection.until : deadlineAt;

/** Whole minutes. Less than one minute shows in seconds. */
function span(fromMs: number, toMs: number): string {
  const seconds = Math.max(0, Math.floor((toMs - fromMs) / 1000));
  return seconds < 60 ? `${seconds}s` : formatSeconds(Math.floor(seconds / 60) * 60);
}

const ago = (iso: string, nowMs: number): string => `${span(Date.parse(iso), nowMs)} ago`;

export const ageOf = ({ createdAt, state, endedAt }: Lived, nowMs: number): string =>
  span(Date.parse(createdAt), state === 'removed' && endedAt !== undefined ? Date.parse(endedAt) : nowMs);

export const isProtected = ({ protection }: Pick<Lived, 'protection'>, nowMs: number): boolean =>
  protection !== undefined && Date.parse(protection.until) > nowMs;

/** `1h 5m`, `1d 2h, protected`, `expired 5m ago`, or the state of a removal. */
export function leftOf(lived: Lived, nowMs: number): string {
  const { state, removal, endedAt } = lived;
  if (state === 'removed') return endedAt === undefined ? 'gone' : `gone ${ago(endedAt, nowMs)}`;
  if (removal?.quarantinedAt !== undefined) return 'left alone';
  if (state === 'removal-failed') return 'tried again';
  if (removal !== undefined) return 'going';
  const removeAt = removeAtOf(lived);
  if (Date.parse(removeAt) <= nowMs) return `expired ${ago(removeAt, nowMs)}`;
  return `${span(nowMs, Date.parse(removeAt))}${isProtected(lived, nowMs) ? ', protected' : ''}`;
}

/** Rows of the summary: when it is removed, what protects it, and the state of its removal. */
export function lifeRows(view: BootstrapView, nowMs: number): string[][] {
  const { state, removal, protection, instances, endedAt, problem } = view;
  const protectedRow =
    protection === undefined
      ? []
      : [['Protected', `until ${time(protection.until)} by ${protection.by}: ${protection.reason}`]];
  if (state === 'removed')
    return [['Removed', endedAt === undefined ? 'yes' : `${time(endedAt)} (${ago(endedAt, nowMs)})`]];
  if (removal !== undefined) {
    const { by, why, requestedAt, failures, quarantinedAt } = removal;
    const asked =
      why === 'expired'
        ? `its time was over at ${time(view.deadlineAt)}`
        : `asked for by ${by} at ${time(requestedAt)}`;
    const gone = instances.filter((instance) => instance.state === 'gone').length;
    const tries = failures === 0 ? '' : `, failed ${failures} times in a row`;
    const next =
      quarantinedAt === undefined
        ? ''
        : `; left alone since ${time(quarantinedAt)}, until an operator runs plinth beta bootstrap-cloud cleanup ${calledBy(view)}`;
    return [
      ['Removal', `${asked}; ${gone} parts are gone${tries}${next}`],
      ...(state === 'removal-failed' && problem !== undefined ? [['Why not', problem.detail]] : []),
    ];
  }
  const removeAt = removeAtOf(view);
  const seconds = (Date.parse(removeAt) - nowMs) / 1000;
  const when = seconds > 0 ? `in ${span(nowMs, Date.parse(removeAt))}` : `expired ${ago(removeAt, nowMs)}`;
  return [['Removed', `${time(removeAt)} (${when})`], ...protectedRow];
}
