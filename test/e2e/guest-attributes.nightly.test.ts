/** Where an organization lets nobody read guest attributes: host keys come from the serial console, or nobody logs in. */
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { needMachines } from '../support/machines.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

const guestAttributes = 'policy.compute.disableGuestAttributesAccess';
const serialPort = 'policy.compute.disableSerialPortAccess';

describe('where guest attributes are off', function () {
  this.timeout(240_000);
  let scene: Scene | undefined;
  let alice: Caller;

  before(() => needMachines());
  const open = async (...policies: string[]): Promise<Scene> => {
    const worldSettings = Object.fromEntries(policies.map((name) => [name, 'enforced']));
    scene = await makeScene({ machines: 'embedded', worldSettings });
    alice = await scene.caller();
    return scene;
  };
  afterEach(() => scene?.close());

  it('takes host keys from the serial console, and keeps them when the console is empty', async () => {
    const { cloud, stack } = await open(guestAttributes);
    const made = succeeded(await alice.bootstrap('by-console'));
    const keysOf = ({ result }: typeof made) => result.vms.map(({ name, hostKeys }) => `${name} ${hostKeys?.join()}`);
    for (const keys of keysOf(made)) expect(keys).to.match(/^\S+ ssh-ed25519 [A-Za-z0-9+/=]{68}$/);
    const hostname = ['beta', 'bootstrap-cloud', 'ssh', 'by-console', 'k0s-1', '--', 'hostname'];
    expect((await runPlinth(hostname, alice)).stdout).to.equal('k0s-1\n');

    // A VM that was stopped prints its keys no more.
    const path = `projects/${made.projectId}/zones/${made.zone}/instances/k0s-1`;
    stack.cloudHalf?.machines?.preempt(path);
    const again = await runAt(['beta', 'bootstrap-cloud', 'restart-vms', 'by-console', '--json'], alice);
    const restarted = succeeded(outcomeOf(again));
    expect(keysOf(restarted)).to.deep.equal(keysOf(made));
    const { accessToken } = await stack.tokens('admin@example.com');
    const console = await fetch(`${cloud.endpoints.compute}/compute/v1/${path}/serialPort`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(await console.text()).not.to.contain('SSH HOST KEY');
    expect((await runPlinth(hostname, alice)).stdout).to.equal('k0s-1\n');
  });

  it('logs in nowhere where the serial console is off, too, and names both policies', async () => {
    await open(guestAttributes, serialPort);
    const { result } = await alice.bootstrap('by-nothing');
    const failed = (result.bootstrap?.instances ?? []).filter(({ state }) => state === 'failed');
    expect(failed.map(({ step }) => step)).to.deep.equal(Array(8).fill('host-key'));
    for (const { problem, attempt } of failed) {
      expect(problem?.code).to.equal('cloud-policy');
      expect(problem?.detail)
        .to.contain('compute.disableGuestAttributesAccess')
        .and.to.contain('compute.disableSerialPortAccess');
      expect(attempt).to.equal(1);
    }
  });
});
