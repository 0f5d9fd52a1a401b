/** Makes docs/build/unproven.md from the checks of first contact. */
import { checks } from '../first-contact/checks/index.js';
import { ceiling } from '../first-contact/plan.js';
import { limit } from '../first-contact/price.js';

const rows = (): string =>
  checks
    .map(
      ({ id, believes, source, makes = '' }) =>
        `| \`${id}\` | ${believes.replaceAll('|', '\\|')} | ${source} | ${makes} |`,
    )
    .join('\n');

export const unprovenPage = (): string => `# Unproven: what plinth believes of Google

Generated from the checks in \`tools/first-contact/checks/\`.

Nobody has seen plinth on real Google. Each row is something that plinth or the simulated cloud believes. [First contact](../operate/deploy.md#first-contact-with-google) tries them all on a real account.

The third column says who says so. \`documented\` stands in Google's documents, and \`data\` in the lists of roles that Google answered. \`reported\` comes from public issues or source code. What is \`believed\`, nobody has said.

All of it costs at most ${ceiling(checks, 'europe-west4').toFixed(2)} USD in europe-west4. A test holds it under ${limit} USD in every region.

| check | what is believed | source | it makes |
| --- | --- | --- | --- |
${rows()}

## What no check tries

| what is believed | why no check tries it |
| --- | --- |
| A VM that is not Shielded is refused with 412 where a policy wants Shielded VMs. | Only an administrator of policies can set one. All VMs of plinth are Shielded, and \`machines.insert\` tries that. |
| A refusal by a policy is a 412 that names its constraint, as for public addresses and load balancers. | The same. Where a parent has such a policy, \`controller.forwarding-rule\` shows its text as unknown. |
| The sets of name servers run out, and the refusal is managedZoneDnsNameNotAvailable. | Each set takes a zone of 0.20 USD: more than the whole run may cost. \`dns.second-zone\` tries that sets differ. |
| A rise of quota is granted in minutes, in part, or refused until the account has history. | It differs by account, and may take days. \`quotas.request\` asks for no more than there is. |
| Builds of a new project run in six regions only, its functions have few instances, and Eventarc's agent is not ready at first. | They concern plinth's own project: a first [apply](../operate/deploy.md) tries them, and says what is refused. |

## Recordings

A run writes every exchange into a file, redacted. \`test/first-contact/replay.ts\` asks the simulated cloud the same in the same order. It compares status, reasons and shape. A shape is the fields with their types, without values.

Recordings of Google go into \`test/recordings/google/\`, as \`<day>.jsonl\`. There is none yet. While there is none, a test holds the README to saying so. Meanwhile recordings of the simulated cloud are replayed. They prove the replay, and nothing of Google.

## A check more

Write it into the table of its group in \`tools/first-contact/checks/\`. It names what it needs of earlier checks. What it awaits goes through \`until\`, and asks one request. What stands outside of the project is noted by \`undo\` before it is made. \`npm run docs\` then adds its row.
`;
