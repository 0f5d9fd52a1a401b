/** The reference page of the organization API, from its route table and its table of costs. */
import {
  bootstrapsCost,
  type Documents,
  idempotencyCost,
  operationCosts,
} from '../../functions/organizations/costs.js';
import type { Route } from '../../shared/api.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import { problemKinds } from '../../shared/problems.js';

const shown = ({ fixed, each }: Documents): string => {
  if (each === undefined) return String(fixed);
  const growing = `${each.times === 1 ? '' : each.times}n`;
  return fixed === 0 ? growing : `${growing} + ${fixed}`;
};

function statusesOf({ replies, problems }: Route): string {
  const refused = problems.map((code) => `${problemKinds[code].status} \`${code}\``);
  return [...Object.keys(replies), ...new Set(refused)].join(' · ');
}

export function organizationsApiReference(): string {
  const operations = Object.entries<Route>(organizationRoutes);
  const costs = (Object.keys(organizationRoutes) as (keyof typeof organizationRoutes)[]).map((operation) => {
    const { method, path } = organizationRoutes[operation];
    const { reads, writes } = operationCosts[operation];
    const counted = new Set([reads.each?.of, writes.each?.of].flatMap((each) => each ?? []));
    return `| ${method} \`${path}\` | ${shown(reads)} | ${shown(writes)} | ${[...counted].join('; ')} |`;
  });
  return [
    '# The organization API',
    '',
    'Generated from the route table in `shared/organization/routes.ts` and the costs in `functions/organizations/costs.ts`. Bodies and replies in full are in [organizations.openapi.json](organizations.openapi.json), which the API serves at `/openapi.json`, with a page to try it at `/docs`.',
    '',
    '## Operations',
    '',
    'Any of them may also answer 400, 401, 403, 404, 405, 413, 415, 431, 500 and 503; see [problems.md](problems.md).',
    '',
    '| operation | what it does | answers |',
    '| --- | --- | --- |',
    ...operations.map(([, route]) => `| ${route.method} \`${route.path}\` | ${route.summary} | ${statusesOf(route)} |`),
    '',
    '## Common to all',
    '',
    '- `Authorization: Bearer <OIDC ID token>`. What the caller may not see answers 404, as if it were not there.',
    '- Lists are arrays, whole. With `limit` (1–200) they come in pages; `Link: <path>; rel="next"` leads on. Its cursor is bound to the caller and the list.',
    '- `Idempotency-Key` on any POST: the same key with the same body gives the first answer again for a day, a refusal too; with another body it is a 422, while the first is in flight a 409. What failed with a 5xx frees the key.',
    '- `If-Match` on a migration, with the `ETag` of its preview: 412 if the team, its members, or who of them belongs to the organization has changed since.',
    '',
    '## Documents read and written',
    '',
    'By these Firestore is billed. At most, when nobody else changes the same at the same time. ' +
      "The first change that a member makes writes one document more than later ones, in a team of an organization two; the table has them. Another account with a member's e-mail costs one read more when it is refused, and one write the first time. " +
      `An \`Idempotency-Key\` costs ${idempotencyCost.writes} writes more; the answer given again ${idempotencyCost.readsAgain} read.`,
    '',
    '| operation | reads | writes | n |',
    '| --- | --- | --- | --- |',
    ...costs,
    '',
    'For a team that has bootstraps, the preview of a migration or an undo reads more, and so does either with `If-Match`: ' +
      `${bootstrapsCost.fixed} documents, each of these bootstraps, up to ${bootstrapsCost.mostAdmins} admins of the organization, and each other team of these bootstraps with whoever comes or leaves. ` +
      'Where the organization has ceilings, the preview of a migration also reads its teams that have bootstraps, and a count for each of them.',
    '',
  ].join('\n');
}
