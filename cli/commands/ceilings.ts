/** `plinth org ceilings` and `plinth team ceilings`: what the bootstraps of teams may come to. */
import { Ceilings } from '../../shared/organization/ceilings.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { refusal } from '../frame/required.js';
import { organizationIdOf, readInput } from '../organizations/input.js';

const flags = {
  living: 'How many bootstraps may live at once, or none to remove this ceiling.',
  'usd-per-month': 'What they may cost in a calendar month of UTC, such as 250.00, or none to remove this ceiling.',
};
const shows = 'Without a flag it shows the ceilings. A ceiling whose flag is left out stays as it is.';
const later = 'A ceiling holds for what begins or is extended from then on. It ends nothing that lives.';

export const orgCeilings = defineCommand({
  description: [
    `Shows or sets what the bootstraps of all teams of an organization may come to. Its admins set it, and all its members see it. ${shows}`,
    later,
  ],
  flags,
  examples: ['plinth org ceilings acme', 'plinth org ceilings acme --living 20 --usd-per-month 1500'],

  async run(call) {
    const { organization: said } = readInput(call, ['organization']);
    const change = readChange(call);
    const client = await call.connectOrganizations();
    const id = await organizationIdOf(client, said);
    const seen = await client.organization(id);
    const organization = change === undefined ? seen : await client.setCeilings(id, changed(seen.ceilings, change));
    return { data: { organization }, show: () => textOf(organization.ceilings) };
  },
});

export const teamCeilings = defineCommand({
  description: [
    `Shows or sets what the bootstraps of a team may come to. For admins of the team or of its organization, and all members see it. In an organization only its admins raise or remove a ceiling. ${shows}`,
    later,
  ],
  flags,
  examples: ['plinth team ceilings 42', 'plinth team ceilings 42 --living 3 --usd-per-month none'],

  async run(call) {
    const { teamId } = readInput(call, ['teamId']);
    const change = readChange(call);
    const client = await call.connectOrganizations();
    const seen = await client.team(teamId);
    const team = change === undefined ? seen : await client.setTeamCeilings(teamId, changed(seen.ceilings, change));
    return { data: { team }, show: () => textOf(team.ceilings) };
  },
});

/** `none` removes a ceiling. */
type Change = { readonly [Kind in keyof Ceilings]?: NonNullable<Ceilings[Kind]> | 'none' };

/** Undefined without a flag. Throws all faults at once. */
function readChange(call: CommandContext): Change | undefined {
  const [living, usdPerMonth] = [call.word('living'), call.word('usd-per-month')];
  if (living === undefined && usdPerMonth === undefined) return undefined;
  const words = [
    ['living', living, (text: string) => (/^\d{1,7}$/.test(text) ? Number(text) : text)],
    ['usdPerMonth', usdPerMonth, (text: string) => text],
  ] as const;
  const read = words.flatMap(([kind, word, as]) => {
    if (word === undefined) return [];
    if (word.text === 'none') return [{ kind, value: 'none' as const, fault: undefined }];
    const result = Ceilings.shape[kind].safeParse(as(word.text));
    const message = `${result.error?.issues[0]?.message}, or none, not ${JSON.stringify(word.text)}`;
    return [{ kind, value: result.data, fault: result.success ? undefined : { path: word.path, message } }];
  });
  const faults = read.flatMap(({ fault }) => fault ?? []);
  if (faults.length === 0) return Object.fromEntries(read.map(({ kind, value }) => [kind, value]));
  throw refusal(faults, 'Correct these and run the command again.');
}

const changed = (before: Ceilings | undefined, change: Change): Ceilings =>
  Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value !== 'none'));

const textOf = ({ living, usdPerMonth }: Ceilings = {}): string =>
  [
    `Living bootstraps  ${living === undefined ? 'no ceiling' : `at most ${living}`}`,
    `Cost in a month    ${usdPerMonth === undefined ? 'no ceiling' : `at most ${usdPerMonth} USD`}`,
  ].join('\n');
