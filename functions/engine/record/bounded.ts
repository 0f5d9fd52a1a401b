/** How much a document keeps of what is added to it again and again. A document of Firestore holds 1 MiB. Pure. */
import type { BootstrapRecord } from './documents.js';

/** The step caller-role took their roles long ago. */
const mostFormer = 500;
const mostWarnings = 20;
/** Of one VM. */
const mostPauses = 20;

/** Of a text that is made of what machines or Google say. */
const longestText = 1500;

export const inShort = (text: string): string => (text.length > longestText ? `${text.slice(0, longestText)}…` : text);

type Pauses = NonNullable<BootstrapRecord['pauses']>;

export const latestFormer = (people: readonly string[]): string[] => people.slice(-mostFormer);

/** Each is told once. */
export const latestWarnings = (before: readonly string[], more: readonly string[]): string[] =>
  [...new Set([...before, ...more])].slice(-mostWarnings);

/** With one more pause of a VM. Of too many, the two oldest become one that is as long, because only that is paid for. */
export function withPause(before: Pauses, pause: Pauses[number]): Pauses {
  const own = [...before.filter(({ vm }) => vm === pause.vm), pause];
  const others = before.filter(({ vm }) => vm !== pause.vm);
  const [first, second, ...rest] = own;
  if (own.length <= mostPauses || first?.until === undefined || second?.until === undefined) return [...before, pause];
  const begins = Date.parse(second.from) - (Date.parse(first.until) - Date.parse(first.from));
  return [...others, { ...second, from: new Date(begins).toISOString() }, ...rest];
}
