/** What people see of an instance, without secrets: all notes, warnings and problems that are stored pass here. */
import type { QuotaShort, StoredProblem } from '../../../shared/bootstrap/bootstrap.js';
import type { SecretRedactor } from '../../../shared/secret-redactor.js';
import type { LeaseRecord } from '../record/documents.js';
import type { Resolution } from '../record/transition.js';

type Redactor = Pick<SecretRedactor, 'redact'>;

/** The other fields are plinth's own, and a short secret might be spelt as one of them. */
export const shownChange = (change: Partial<LeaseRecord>, { redact }: Redactor): Partial<LeaseRecord> => ({
  ...change,
  ...(change.note !== undefined && { note: redact(change.note) }),
  ...(change.retry !== undefined && { retry: redact(change.retry) }),
});

export function shownResolution(resolution: Resolution, redactor: Redactor): Resolution {
  const { redact } = redactor;
  switch (resolution.state) {
    case 'cancelled':
      return resolution;
    case 'failed':
      return { ...resolution, problem: shownProblem(resolution.problem, redactor) };
    case 'client':
    case 'waiting':
      return { ...resolution, note: redact(resolution.note) };
    case 'done':
      return { ...resolution, note: redact(resolution.note), warning: redact(resolution.warning) };
    case 'gone':
      return { ...resolution, note: redact(resolution.note) };
  }
}

function shownProblem({ code, detail, advice, short, members }: StoredProblem, { redact }: Redactor): StoredProblem {
  const withAnswer = (each: QuotaShort): QuotaShort =>
    each.answer === undefined ? each : { ...each, answer: redact(each.answer) };
  return {
    code,
    detail: redact(detail),
    ...(advice !== undefined && { advice: redact(advice) }),
    ...(short !== undefined && { short: short.map(withAnswer) }),
    ...(members !== undefined && { members: redact(members) }),
  };
}
