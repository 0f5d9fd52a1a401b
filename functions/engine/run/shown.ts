/** What people see of an instance, without secrets and within bounds: all notes, warnings and problems that are stored pass here. */
import type { QuotaShort, StoredProblem } from '../../../shared/bootstrap/bootstrap.js';
import type { SecretRedactor } from '../../../shared/secret-redactor.js';
import { inShort } from '../record/bounded.js';
import type { LeaseRecord } from '../record/documents.js';
import type { Resolution } from '../record/transition.js';

type Redactor = Pick<SecretRedactor, 'redact'>;

/** Redacted before it is cut, because a part of a secret would not be recognised. */
export const shownText = (text: string, { redact }: Redactor): string => inShort(redact(text));

/** The other fields are plinth's own, and a short secret might be spelt as one of them. */
export const shownChange = (change: Partial<LeaseRecord>, redactor: Redactor): Partial<LeaseRecord> => ({
  ...change,
  ...(change.note !== undefined && { note: shownText(change.note, redactor) }),
  ...(change.retry !== undefined && { retry: shownText(change.retry, redactor) }),
});

export function shownResolution(resolution: Resolution, redactor: Redactor): Resolution {
  const shown = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : shownText(text, redactor);
  switch (resolution.state) {
    case 'cancelled':
      return resolution;
    case 'failed':
      return { ...resolution, problem: shownProblem(resolution.problem, redactor) };
    case 'client':
    case 'waiting':
      return { ...resolution, note: shownText(resolution.note, redactor) };
    case 'done':
      return { ...resolution, note: shown(resolution.note), warning: shown(resolution.warning) };
    case 'gone':
      return { ...resolution, note: shown(resolution.note) };
  }
}

function shownProblem({ code, detail, advice, short, members }: StoredProblem, redactor: Redactor): StoredProblem {
  const shown = (text: string): string => shownText(text, redactor);
  const withAnswer = (each: QuotaShort): QuotaShort =>
    each.answer === undefined ? each : { ...each, answer: shown(each.answer) };
  return {
    code,
    detail: shown(detail),
    ...(advice !== undefined && { advice: shown(advice) }),
    ...(short !== undefined && { short: short.map(withAnswer) }),
    ...(members !== undefined && { members: shownMembers(members, redactor) }),
  };
}

const shownMembers = (members: NonNullable<StoredProblem['members']>, { redact }: Redactor): typeof members =>
  JSON.parse(JSON.stringify(redact(members)), (_, value: unknown) =>
    typeof value === 'string' ? inShort(value) : value,
  ) as typeof members;
