/** Makes docs/build/worlds.md from the tables of worlds and constraints. */
import { constraintNames, constraintOf } from '../../local/cloud/worlds/constraints.js';
import { settingsOf } from '../../local/cloud/worlds/settings.js';
import { worldNames } from '../../local/cloud/worlds/table.js';

const code = (text: string): string => `\`${text}\``;

const rowOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [rowOf(head), rowOf(head.map(() => '---')), ...rows.map(rowOf)].join('\n');

function settingsTable(): string {
  const worlds = worldNames.map((name) => settingsOf(name));
  const keys = Object.keys(settingsOf('seasoned'));
  return tableOf(
    ['setting', ...worldNames],
    keys.map((key) => [code(key), ...worlds.map((settings) => String(settings[key]).replaceAll(',', ', '))]),
  );
}

const constraintsTable = (): string =>
  tableOf(
    ['constraint', 'kind', 'refuses', 'code', 'text', 'besides'],
    constraintNames.map((name) => {
      const { kind, methods, refusal, does = '' } = constraintOf(name);
      const refused = methods.map(code).join(', ');
      return [code(name), kind, refused, String(refusal?.code ?? ''), refusal?.proof ?? '', does];
    }),
  );

export const worldsPage = (): string => `# Worlds of the simulated cloud

Generated from \`local/cloud/worlds/table.ts\` and \`local/cloud/worlds/constraints.ts\`.

A world says how old the account is and which organization policies are in force. It is data: quotas, policies, delays and chances.

- **seasoned** is the default everywhere. The account has room, and the organization has the policies that Google gives to new ones since 3 May 2024. In this world a refusal is a failure of plinth.
- **fresh** is a new account. It has few CPUs, addresses and disks, few projects and five billing links. Deleted projects count for 30 days. A local stack takes three of the links for its own projects.
- **hardened** has the policies of the table below in force. Those that no bootstrap could meet are off. A local stack then has the settings that a deployment there needs: \`PLINTH_MACHINE_ACCESS=iap\` and \`PLINTH_LOAD_BALANCERS=internal\`.

\`test/worlds/plinth.test.ts\` says what plinth cannot do in a world yet.

## Choose one

\`npm run local\` and \`npm run demo\` take \`--world\`, and \`--world-set KEY=VALUE\` for each setting that differs. So do the two halves. In tests, \`createStack\`, \`makeScene\` and \`createSimulatedCloud\` take \`world\` and \`worldSettings\`. The snapshot keeps both. An unknown setting is refused by its name. \`npm run local\` also takes \`--set NAME=VALUE\` for each [setting](../reference/settings.md) of the deployment itself.

While it runs:

\`\`\`
curl $FRONT/_local/world
curl -X PUT $FRONT/_local/world -d '{"world": "fresh", "settings": {"quota.CPUS": 72}}'
curl -X POST $FRONT/_local/preemptions -d '{"instance": "projects/P/zones/Z/instances/N"}'
\`\`\`

A policy that is set here holds on every organization, and is in force at once. Quotas and stockouts of single projects are set by \`/_local/faults\`. They win over the world.

## Settings

A quota is a number. A delay is in seconds of cloud time, which the time factor scales. A pace says how many times its usual time all that an API does later takes. A chance is a share from 0 to 1, drawn by the seed. A consumer is \`resource\` or \`caller\`: in whose project the API must be on. A policy is \`off\`, \`enforced\`, \`allow-all\`, \`deny-all\`, \`allow:A,B\` or \`deny:A,B\`. The value \`own\` is the customer id of the organization.

${settingsTable()}

## Constraints

Texts that are \`documented\` stand in Google's documentation. Public issues quote those that are \`reported\`. Nobody has seen the \`unproven\` ones. They follow the form of the others.

${constraintsTable()}

The Organization Policy API only tells what holds (\`getEffectivePolicy\`). Policies of single folders and projects are set by tests, in \`local/cloud/org-policy/policies.ts\`.
`;
