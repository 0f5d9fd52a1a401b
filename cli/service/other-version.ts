/** What plinth says when the service and this command line have different versions. */
import { Problem } from '../../shared/problems.js';
import { version, versionHeader } from '../../shared/version.js';

/** Undefined if no version is named: the service is older than this header, or is no plinth at all. */
export const serviceVersion = (headers: Headers): string | undefined =>
  /^\d[\w.+-]{0,40}$/.exec(headers.get(versionHeader) ?? '')?.[0];

/** Negative if the first is older. */
function compared(one: string, other: string): number {
  const numbers = (text: string) => text.split(/[.+-]/, 3).map(Number);
  const [a, b] = [numbers(one), numbers(other)];
  return a.map((n, i) => n - (b[i] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

const isNewerThan = (service: string): boolean => compared(version, service) > 0;

/** What to do about the difference. Undefined if the versions are equal. */
export function versionAdvice(service: string | undefined): string | undefined {
  if (service === version) return undefined;
  if (service === undefined) return 'Check the endpoint, or use the plinth that belongs to this deployment.';
  return isNewerThan(service)
    ? `Use plinth ${service} here, or ask an operator of this deployment to bring it to ${version}.`
    : `Get plinth ${service}, the version of this deployment.`;
}

/** The problem for an answer that cannot be parsed. */
export function unreadableAnswer(endpoint: string, headers: Headers): Problem {
  const service = serviceVersion(headers);
  if (service === version) {
    return new Problem('internal', `plinth at ${endpoint} answered in a form that it should not.`, {
      advice: 'Both sides are of one version, so this is a fault of plinth: tell an operator.',
    });
  }
  const advice = versionAdvice(service);
  return new Problem(
    'versions-differ',
    service === undefined
      ? `What answers at ${endpoint} does not name its version, and answers in a form that plinth ${version} does not know: an older plinth, or none.`
      : `plinth at ${endpoint} is of version ${service}, this one of ${version}, and its answer is in a form that this one does not know.`,
    { ...(advice !== undefined && { advice }), members: { version, ...(service !== undefined && { service }) } },
  );
}
