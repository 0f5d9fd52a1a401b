/** `plinth beta bootstrap-cloud logs`: the machine logs of a bootstrap, step by step. It can also follow them. */
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { endStates } from '../../shared/bootstrap/event.js';
import type { LogView } from '../../shared/bootstrap/log.js';
import { Problem } from '../../shared/problems.js';
import { idOf } from '../bootstrap/named.js';
import { detached } from '../follow/follow.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import type { Client } from '../service/client.js';
import { pause } from '../service/patience.js';

const lookEveryMs = 2000;

export const logs = defineCommand({
  description: [
    'Shows the machine logs: what long commands said, such as the install of the platform. It shows each step under a heading, or only one step. Secrets show as <secret>. The logs are kept until the project is removed.',
    'A pipe or a file gets the exact bytes. A terminal gets them without what would move the cursor.',
  ],
  flags: { follow: 'Go on with what they say until the bootstrap ends.' },
  examples: [
    'plinth beta bootstrap-cloud logs demo',
    'plinth beta bootstrap-cloud logs demo install --follow',
    'plinth beta bootstrap-cloud logs demo install:dc1 > install.log',
  ],

  async run(call) {
    const { interrupted } = call;
    const client = await call.connect();
    let view = await client.get(await idOf(call, client));
    const step = call.word('step')?.text;
    const { id } = view;
    checkStep(view, step);
    const printer = createPrinter(call, view, step);
    const told = new Map<string, number>();
    try {
      for (;;) {
        // Check the state before reading the logs. Otherwise the last lines could be missed.
        const ended = endStates.includes(view.state);
        for (const log of inOrder(await client.logs(id), view)) {
          if (!isOf(log.instance, step)) continue;
          told.set(log.instance, await print(client, id, log, told.get(log.instance) ?? 0, printer));
        }
        if (!call.has('follow') || ended) break;
        await pause(lookEveryMs, interrupted);
        view = await client.get(id);
      }
    } catch (error) {
      throw interrupted.aborted ? detached(view.name) : error;
    }
    const found = [...told].map(([instance, bytes]) => ({ instance, bytes }));
    return {
      data: { bootstrap: id, state: view.state, logs: found },
      ...(found.length === 0 && { show: () => `Nothing was said on the machines of ${printable(view.name)} so far.` }),
    };
  },
});

/** Matches one instance by its id, such as install:dc1, or all instances of a step. */
const isOf = (instance: string, step: string | undefined): boolean =>
  step === undefined || instance === step || instance.split(':')[0] === step;

function checkStep({ instances, name }: BootstrapView, step: string | undefined): void {
  if (step === undefined || instances.some(({ id }) => isOf(id, step))) return;
  throw new Problem('not-found', `The bootstrap of ${name} has no step ${JSON.stringify(step)}.`, {
    advice: `It has: ${[...new Set(instances.map((each) => each.step))].join(', ')}.`,
  });
}

/** In the order of the bootstrap's instances. */
function inOrder(found: readonly LogView[], { instances }: BootstrapView): readonly LogView[] {
  const places = new Map(instances.map(({ id }, place) => [id, place]));
  const placeOf = ({ instance }: LogView): number => places.get(instance) ?? instances.length;
  return [...found].sort((a, b) => placeOf(a) - placeOf(b));
}

type Printer = (instance: string, chunk: { readonly text: string }) => void;

/** Returns the offset up to which the log is printed. */
async function print(client: Client, id: string, { instance, bytes }: LogView, from: number, printer: Printer) {
  for (let offset = from; ; ) {
    if (offset >= bytes) return offset;
    const page = await client.log(id, instance, offset);
    for (const chunk of page.chunks) printer(instance, chunk);
    if (page.chunks.length === 0) return offset;
    offset = page.next;
  }
}

function createPrinter({ output }: CommandContext, { instances }: BootstrapView, step: string | undefined): Printer {
  const titles = new Map(instances.map(({ id, title }) => [id, title]));
  const isOne = instances.filter(({ id }) => isOf(id, step)).length === 1;
  let before: string | undefined;
  let endsLine = true;
  return (instance, chunk) => {
    if (output.json) return output.event({ type: 'log', instance, ...chunk });
    if (instance !== before && !isOne) {
      const heading = `==> ${printable(titles.get(instance) ?? instance)} (${instance})\n`;
      output.piece(`${endsLine ? '' : '\n'}${before === undefined ? '' : '\n'}${heading}`);
    }
    before = instance;
    endsLine = chunk.text.endsWith('\n');
    output.piece(chunk.text);
  };
}
