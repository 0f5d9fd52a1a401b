/** Reads arguments and flags about organizations and teams with the schemas of the API, and reports every fault at once. */
import * as z from 'zod';
import { Email } from '../../shared/organization/email.js';
import { Name, OrganizationEvent, Role, Why } from '../../shared/organization/organization.js';
import { TeamId } from '../../shared/organization/team-id.js';
import { type Fault, Problem } from '../../shared/problems.js';
import { oneSpelling } from '../../shared/visible-text.js';
import { bracketed } from '../frame/arguments.js';
import type { CommandContext } from '../frame/command.js';
import { refusal } from '../frame/required.js';
import type { OrganizationClient } from '../service/organization-client.js';

const teamId = z
  .string()
  .regex(/^\d{1,10}$/, 'must be a whole number')
  .transform(Number)
  .pipe(TeamId);

const forms = {
  name: Name,
  email: Email,
  role: Role,
  teamId,
  team: teamId,
  organization: z.string().trim().min(1, 'must not be empty'),
  actor: Email,
  member: Email,
  why: Why,
  action: z.enum(OrganizationEvent.shape.action.options, {
    error: `must be one of ${OrganizationEvent.shape.action.options.join(', ')}`,
  }),
};
type Forms = typeof forms;
type Read<K extends keyof Forms, O extends keyof Forms> = { readonly [N in K]: z.infer<Forms[N]> } & {
  readonly [N in O]: z.infer<Forms[N]> | undefined;
};

/** Reads each value from its argument or flag. Throws all faults at once, including earlier ones and `others`. */
export function readInput<K extends keyof Forms, O extends keyof Forms = never>(
  call: Pick<CommandContext, 'word' | 'faults'>,
  required: readonly K[],
  optional: readonly O[] = [],
  others: readonly Fault[] = [],
): Read<K, O> {
  const told = new Set(call.faults.map(({ path }) => path));
  const faults: Fault[] = [...call.faults];
  const read: Partial<Record<keyof Forms, unknown>> = {};
  for (const name of [...required, ...optional]) {
    const word = call.word(name);
    if (word === undefined) {
      const path = `--${name}`;
      const isTold = told.has(path) || told.has(bracketed(name));
      if (!isTold && (required as readonly string[]).includes(name)) faults.push({ path, message: 'is required' });
      continue;
    }
    const { success, data, error } = forms[name].safeParse(word.text);
    if (success) read[name] = data;
    else faults.push({ path: word.path, message: `${error.issues[0]?.message}, not ${JSON.stringify(word.text)}` });
  }
  faults.push(...others.filter(({ path }) => !told.has(path)));
  if (faults.length > 0) throw refusal(faults, 'Correct these and run the command again.');
  return read as Read<K, O>;
}

export const isOrganizationId = (said: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(said);

/** Returns an id unchanged. A name is looked up among the caller's organizations, or among those that are deleted. */
export async function organizationIdOf(client: OrganizationClient, said: string, deleted = false): Promise<string> {
  if (isOrganizationId(said)) return said.toLowerCase();
  const named = (await client.organizations(deleted)).filter(({ name }) => oneSpelling(name) === oneSpelling(said));
  const [first, second] = named;
  if (first === undefined) {
    const what = deleted ? 'deleted organization' : 'organization';
    throw new Problem('not-found', `You belong to no ${what} named ${JSON.stringify(said)}.`, {
      advice: `plinth org list${deleted ? ' --deleted' : ''} shows those that you belong to.`,
    });
  }
  if (second === undefined) return first.id;
  throw new Problem(
    'bad-input',
    `You belong to ${named.length} organizations named ${JSON.stringify(said)}: ${named.map(({ id }) => id).join(', ')}.`,
    { advice: 'Give the id of the one that you mean.' },
  );
}
