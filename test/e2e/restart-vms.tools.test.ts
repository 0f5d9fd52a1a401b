/** `plinth beta bootstrap-cloud restart-vms`: what was stopped or taken away runs again, and what stands on it has been looked at. */

import { join } from 'node:path';
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { makeExecutable, needMachines } from '../support/machines.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

type Vms = readonly Readonly<Record<string, string>>[];

describe('plinth beta bootstrap-cloud restart-vms', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  let made: BootstrapView;

  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
    const binary = makeExecutable(join(alice.folder, 'own-plinth'), 50_000);
    made = succeeded(await alice.bootstrap('restarted', { 'spot-vms': true, 'remote-cli-binary': binary }));
  });
  after(() => scene?.close());

  const command = ['beta', 'bootstrap-cloud', 'restart-vms'];
  const restart = async (...args: string[]) =>
    outcomeOf(await runAt([...command, 'restarted', '--json', ...args], alice));
  const ssh = (...args: string[]) => runPlinth(['beta', 'bootstrap-cloud', 'ssh', 'restarted', ...args], alice);
  const path = (name: string) => `projects/${made.projectId}/zones/${made.zone}/instances/${name}`;
  const doneTo = (vms: Vms, what: string) => vms.filter(({ done }) => done === what).map(({ name }) => name);

  const admin = async (method: string, name: string, verb = '') => {
    const { accessToken } = await scene.stack.tokens('admin@example.com');
    const reply = await fetch(`${scene.cloud.endpoints.compute}/compute/v1/${path(name)}${verb}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(reply.status, await reply.text()).to.equal(200);
    await scene.stack.cloudHalf?.machines?.settle();
  };

  it('starts what was taken away and what was stopped, also the jumpbox, and leaves the rest running', async () => {
    scene.stack.cloudHalf?.machines?.preempt(path('k0s-2'));
    await admin('POST', 'jumpbox', '/stop');
    const outcome = await restart();
    const view = succeeded(outcome);
    expect(view.generation).to.equal(made.generation + 1);
    const vms = outcome.result['vms'] as Vms;
    expect(vms.map(({ name }) => name)).to.deep.equal(made.result.vms.map(({ name }) => name));
    expect(doneTo(vms, 'started again')).to.deep.equal(['jumpbox', 'k0s-2']);
    expect(vms.every(({ health }) => health === 'answers')).to.equal(true);
    // The jumpbox has another address now, and the same host key.
    expect((await ssh('k0s-2', '--', 'hostname')).stdout).to.equal('k0s-2\n');
  });

  it('of one that is named alone, in words, and makes again what is gone', async () => {
    await admin('DELETE', 'ceph-2');
    const run = await runAt([...command, 'restarted', '--name', 'ceph-2'], alice);
    expect(run.exitCode, run.stderr).to.equal(0);
    expect(run.stdout)
      .to.match(/^ *ceph-2 .* made again +answers *$/m)
      .and.not.include('ceph-1');
    expect(doneTo((await restart()).result['vms'] as Vms, 'nothing: it ran')).to.have.lengthOf(made.result.vms.length);
  });

  it('is for the owner and operators, and knows its VMs', async () => {
    const strange = await restart('--name', 'k0s-9');
    expect(strange.exitCode).to.equal(2);
    expect(strange.result.problem?.advice).to.include('jumpbox, postgres, ceph-1');
    const bob = await scene.caller('bob@example.com');
    expect(await runAt([...command, 'restarted'], bob)).to.include({ exitCode: 4 });
    const operator = await scene.caller('admin@example.com');
    const byOperator = await runAt([...command, 'restarted', '--name', 'k0s-1', '--json'], operator);
    expect(byOperator.exitCode, byOperator.stderr).to.equal(0);
  });
});
