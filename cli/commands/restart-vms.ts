/**
 * `plinth beta bootstrap-cloud restart-vms`: restarts VMs that were stopped or taken away, and rechecks everything on them.
 * For its owner and operators.
 */
import type { BootstrapView, VmView } from '../../shared/bootstrap/bootstrap.js';
import { idOf } from '../bootstrap/named.js';
import { followToEnd, problemOfEnd, timingTable } from '../follow/follow.js';
import { defineCommand } from '../frame/command.js';
import { listing } from '../frame/table.js';

export const restartVms = defineCommand({
  description: [
    'Starts the VMs of a bootstrap that do not run, such as spot VMs that Google stopped. It makes those anew that are gone, and leaves running ones alone. Then it checks, as bootstrap-cloud does, that each answers SSH and is set up.',
    'It also goes on with what had failed or was cancelled. It needs none of the flags and files of the bootstrap. Ctrl-C detaches, and the same command again looks once more.',
  ],
  options: ['timer'],
  flags: { name: 'Only this VM, such as k0s-1.' },
  examples: [
    'plinth beta bootstrap-cloud restart-vms demo',
    'plinth beta bootstrap-cloud restart-vms demo --name k0s-1',
  ],

  async run(call) {
    const client = await call.connect();
    const before = await client.get(await idOf(call, client));
    const only = call.word('name')?.text;
    const begun = await client.restartVms(before.id, only === undefined ? undefined : [only]);
    const timer = call.given.timer === true;
    const { view, timings } = await followToEnd(call, client, begun, timer);
    if (timer && !call.output.json) call.output.say(timingTable(timings, call.output.style));
    const problem = problemOfEnd(view);
    const vms = rowsOf(before, view, only);
    return {
      data: { bootstrap: view, vms, ...(timer && { timings }) },
      ...(problem !== undefined && { problem }),
      show: (style) =>
        listing(
          ['VM', 'INTERNAL', 'EXTERNAL', 'WHAT WAS DONE', 'HEALTH'],
          vms.map(({ name, internalIp = '-', externalIp = '-', done, health }) => [
            name,
            internalIp,
            externalIp,
            done,
            health,
          ]),
          style,
        ),
    };
  },
});

interface Row extends Partial<Pick<VmView, 'internalIp' | 'externalIp'>> {
  readonly name: string;
  readonly done: 'started again' | 'made again' | 'nothing: it ran' | 'not running';
  /** `answers`: it answers over SSH and is set up. */
  readonly health: 'answers' | 'not looked at' | 'does not answer';
}

function rowsOf(before: BootstrapView, after: BootstrapView, only: string | undefined): Row[] {
  const stateOf = (id: string) => after.instances.find((instance) => instance.id === id)?.state;
  return after.instances
    .filter(({ step, key }) => step === 'vm' && (only === undefined || key === only))
    .map(({ key: name = '', state }): Row => {
      const [was, is] = [before, after].map(({ result }) => result.vms.find((vm) => vm.name === name));
      const setup = stateOf(`host-setup:${name}`);
      const health = setup === undefined ? 'not looked at' : setup === 'done' ? 'answers' : 'does not answer';
      if (is === undefined || state !== 'done') return { name, done: 'not running', health };
      const { internalIp, externalIp } = is;
      const isNew = was?.createdAt !== is.createdAt;
      const done = isNew ? 'made again' : was?.stoppedAt === is.stoppedAt ? 'nothing: it ran' : 'started again';
      return { name, internalIp, ...(externalIp !== undefined && { externalIp }), done, health };
    });
}
