/**
 * The laws of the steps on machines: whoever dies before, during or after any exchange with a machine, the next goes on, and in
 * the end it is as if nobody had died, with nothing made twice; what stands is seen, and running it again changes nothing. The
 * short and the long test differ in the steps.
 */
import { expect } from 'chai';
import { functionAccount } from '../../local/stack/deployment.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { tunnelRole } from '../../shared/iap.js';
import { functionNames } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { needMachines } from '../support/machines.js';
import { diskInventory } from './disk-inventory.js';
import { createHostLab, type HostLab } from './host-lab.js';
import { createMortalRemote, type Death, type MortalRemote } from './mortal-remote.js';

const hostAccount = functionAccount(functionNames.runHostStep);

type Inventory = Record<string, Record<string, string>>;

/** Machine, file, what it is and what it was to be. */
const differences = (found: Inventory, wanted: Inventory): string[] =>
  [...new Set([...Object.keys(found), ...Object.keys(wanted)])].flatMap((machine) => {
    const [is, was] = [found[machine] ?? {}, wanted[machine] ?? {}];
    return [...new Set([...Object.keys(is), ...Object.keys(was)])]
      .filter((path) => is[path] !== was[path])
      .map((path) => `${machine} ${path}: ${is[path] ?? 'missing'}, not ${was[path] ?? 'missing'}`);
  });

export interface Sample {
  readonly options: Partial<BootstrapOptions>;
  readonly ways: readonly Death['when'][];
  /** Of the instances on machines; what they need is made too. */
  readonly isChosen: (id: string) => boolean;
  /** How the machines are reached, and what lies in the cloud beforehand. */
  readonly parts?: Pick<NonNullable<Parameters<typeof createHostLab>[1]>, 'machineAccess' | 'prepare'>;
}

export function hostStepsHold({ options, ways, isChosen, parts = {} }: Sample): void {
  let undisturbed: HostLab;
  /** The remote of `undisturbed`. Each life of it connects anew. */
  let lives: MortalRemote | undefined;
  const open: HostLab[] = [];
  const inventoryOf = ({ lab, disk }: HostLab): Inventory =>
    Object.fromEntries(
      lab.instances.flatMap(({ id, step, key }) =>
        step.name === 'host-setup' && lab.outputs[id] !== undefined ? [[key, diskInventory(disk(key))]] : [],
      ),
    );
  const chosenOf = ({ lab }: HostLab) => lab.instances.filter(({ id, lane }) => lane === 'host' && isChosen(id));
  let made: Inventory;

  before(async function () {
    needMachines();
    await keysAtHand.call(this);
    this.timeout(600_000);
    undisturbed = await createHostLab(options, {
      ...parts,
      remote: (settings) => {
        lives = createMortalRemote(settings);
        return lives;
      },
    });
    open.push(undisturbed);
    await Promise.all(chosenOf(undisturbed).map(({ id }) => undisturbed.make(id)));
    made = inventoryOf(undisturbed);
  });
  after(async () => {
    for (const each of open) await each.close();
  });

  it('what stands is seen, and looking changes nothing', async () => {
    for (const instance of chosenOf(undisturbed)) {
      const seen = await instance.step.observe(undisturbed.lab.call(instance));
      expect(seen, instance.id).to.deep.equal(undisturbed.lab.outputs[instance.id]);
    }
    expect(differences(inventoryOf(undisturbed), made)).to.deep.equal([]);
  });

  it('twice is once: running what stands changes nothing', async () => {
    for (const instance of chosenOf(undisturbed)) {
      await instance.step.run(undisturbed.lab.call(instance));
      await undisturbed.lab.drive(instance);
    }
    expect(differences(inventoryOf(undisturbed), made)).to.deep.equal([]);
  });

  if (parts.machineAccess === 'iap') {
    it('who may open no tunnel is refused and changes nothing, and goes on once allowed again', async () => {
      const { lab } = undisturbed;
      const { context, bootstrap, signal } = lab.call(lab.instance('tunnel-access'));
      const grants = [{ member: `serviceAccount:${hostAccount}`, role: tunnelRole }];
      const policy = context.cloud.projects.policy(bootstrap.projectId);
      for (const instance of chosenOf(undisturbed)) {
        await policy.revoke(grants, signal);
        await lives?.live();
        for (const way of ['observe', 'run'] as const) {
          const refused = await instance.step[way](lab.call(instance)).catch((error: unknown) => error);
          expect(refused, `${instance.id} ${way}`).to.be.instanceOf(Problem).with.property('code', 'cloud-propagation');
        }
        await policy.grant(grants, signal);
        expect(await lab.drive(instance), instance.id).to.deep.equal(lab.outputs[instance.id]);
      }
      expect(differences(inventoryOf(undisturbed), made)).to.deep.equal([]);
    });
  }

  for (const when of ways) {
    it(`whoever dies ${when} any exchange with a machine, the next goes on, and nothing is made twice`, async () => {
      let remote: MortalRemote | undefined;
      const disturbed = await createHostLab(options, {
        ...parts,
        remote: (settings) => {
          remote = createMortalRemote(settings);
          return remote;
        },
      });
      open.push(disturbed);
      const { lab } = disturbed;
      let deaths = 0;
      const chosen = chosenOf(disturbed);
      for (const instance of chosen) {
        await Promise.all(instance.needs.map(disturbed.make));
        for (let nth = 1; ; nth++) {
          await remote?.live({ nth, when });
          const output = await lab.drive(instance).catch((error: unknown) => {
            if (remote?.isDead() === true) return undefined;
            throw error;
          });
          if (remote?.isDead() !== true) {
            lab.outputs[instance.id] = output;
            await remote?.live();
            // For those that need it.
            await disturbed.make(instance.id);
            break;
          }
          deaths++;
        }
      }
      expect(deaths).to.be.at.least(chosen.length);
      expect(differences(inventoryOf(disturbed), made)).to.deep.equal([]);
      for (const instance of chosen) {
        expect(await instance.step.observe(lab.call(instance)), instance.id).to.deep.equal(lab.outputs[instance.id]);
      }
    });
  }
}
