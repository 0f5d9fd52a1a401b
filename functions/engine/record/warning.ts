/** When people are warned that a project's time is running out, and in which words. Pure. */

import { formatSeconds } from '../../../shared/bootstrap/duration.js';
import type { ExpiryWarning } from '../../../shared/bootstrap/event.js';
import { latestEnd, longestLifeSeconds } from '../../../shared/bootstrap/lifetime.js';
import { calledBy } from '../../../shared/command-words.js';
import type { BootstrapRecord } from './documents.js';
import { removeAtOf } from './removal-rule.js';

/** A day, an hour and ten minutes before. */
const leadSeconds = [86_400, 3600, 600] as const;

/** The first warning after `at`. Undefined: none is left. A time to live of two hours has two warnings. */
export function warnAtOf(record: Pick<BootstrapRecord, 'deadlineAt' | 'protection'>, at: string): string | undefined {
  const endsAt = Date.parse(removeAtOf(record));
  const times = leadSeconds.map((seconds) => endsAt - seconds * 1000);
  const next = times.find((time) => time > Date.parse(at));
  return next === undefined ? undefined : new Date(next).toISOString();
}

/** Sets when cleanup and warnings look at the record next. A new end gets warnings of its own. */
export function dated(
  { removeAt: before, warnAt: _, warned, ...record }: BootstrapRecord,
  at: string,
): BootstrapRecord {
  const removeAt = removeAtOf(record);
  const warnAt = warnAtOf(record, at);
  return {
    ...record,
    removeAt,
    ...(warnAt === undefined ? {} : { warnAt }),
    ...(warned === undefined || removeAt !== before ? {} : { warned }),
  };
}

/** The warning as it is stored, shown and sent. `longestAt`: no extension goes beyond it. */
export function warningOf(record: BootstrapRecord, at: string, longestAt: string): ExpiryWarning {
  const { name, projectId } = record;
  const removeAt = removeAtOf(record);
  const left = formatSeconds(Math.max(60, Math.round((Date.parse(removeAt) - Date.parse(at)) / 60_000) * 60));
  return {
    at,
    removeAt,
    text: `The project ${projectId} of ${name} and all that is in it are removed in ${left}, at ${removeAt}.`,
    advice: adviceOn(record, longestAt),
  };
}

function adviceOn(record: BootstrapRecord, longestAt: string): string {
  const [removeAt, called] = [removeAtOf(record), calledBy(record)];
  const command = 'plinth beta bootstrap-cloud';
  if (longestAt > removeAt) return `To keep it longer: ${command} extend ${called} --ttl 4h`;
  if (latestEnd(record.createdAt) > removeAt) {
    return `It lives as long as this deployment allows. Only an operator can keep it longer, by: ${command} protect ${called} --until 1d --reason "still in use"`;
  }
  return `No project lives longer than ${formatSeconds(longestLifeSeconds)}. Copy what you need from it, and bootstrap another one.`;
}
