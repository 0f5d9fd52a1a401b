/** Commands that plinth prints about a bootstrap whose project was prepared: they name it by its name, and work as they stand. */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { local, people } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, domainOf, makeScene, type Scene, succeeded } from '../support/scene.js';

const name = 'my first';
const flags = { region: local.region, 'base-domain': domainOf('my-first') };

describe('commands that are printed about a prepared project', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let alice: Caller;
  let admin: Caller;
  let id: string;
  let projectId: string;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    alice = await scene.caller();
    admin = await scene.caller(people.admin);
    const { folder: parent, billingAccount, region } = local;
    const key = `${parent} ${billingAccount} ${region}`;
    configure({ pools: [{ key, parent, billingAccount, region, size: 1, maxAgeSeconds: 86_400 }] });
    await life.swept();
    const view = succeeded(await alice.bootstrap(name, flags));
    ({ id, projectId } = view);
    expect(projectId).to.match(/^pool-/);
  });
  after(() => scene?.close());

  function configure(changes: object): void {
    for (const each of Object.values(functionNames)) {
      Object.assign(scene.stack.functionsHalf?.contextOf(each).config ?? {}, changes);
    }
  }
  const cloudCommand = (...args: string[]) => ['beta', 'bootstrap-cloud', ...args];
  const textOf = async (args: readonly string[], by: Caller = alice): Promise<string> => {
    const { stdout, stderr } = await runAt(args, by);
    return `${stdout}\n${stderr}`;
  };
  /** The words of a command as a shell reads them. */
  const wordsOf = (command: string): string[] =>
    execFileSync('bash', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
      .split('\0')
      .slice(1, -1);

  /** Finds the command that begins so in what was said, and runs it. */
  async function runPrinted(said: string, begin: string, by: Caller = alice, more: readonly string[] = []) {
    const at = said.indexOf(`plinth ${begin}`);
    expect(at, `plinth ${begin}\n${said}`).to.be.above(-1);
    const [line = ''] = said.slice(at).split('\n');
    const [command = ''] = /^plinth [\w -]+'my first'(?: --[\w-]+(?: [\w@.]+)?)*/.exec(line) ?? [];
    expect(command, line).to.contain("'my first'");
    expect(command).not.to.contain(projectId);
    const { exitCode, stdout, stderr } = await runAt([...wordsOf(command), ...more], by);
    expect(exitCode, `${command}\n${stdout}${stderr}`).to.equal(0);
    return stdout;
  }

  it('after its end: to log in to its machines, and meanwhile to watch them', async () => {
    const said = await textOf(cloudCommand('status', name));
    expect(said).to.contain("plinth beta bootstrap-cloud ssh 'my first'\n");
    // Its machines are entries only here, so none has a key yet.
    const refused = await textOf(wordsOf("plinth beta bootstrap-cloud ssh 'my first'"));
    await runPrinted(refused, 'beta bootstrap-cloud status');
  });

  it('where it has no platform: to see what stands', async () => {
    expect(await runPrinted(await textOf(['open', name]), 'beta bootstrap-cloud status')).to.contain(projectId);
  });

  it('before its end: to keep it longer', async () => {
    const soon = new Date(Date.now() + 50 * 60_000).toISOString();
    await life.change(id, { deadlineAt: soon, removeAt: soon, warnAt: new Date(Date.now() - 1000).toISOString() });
    await life.swept();
    await runPrinted(await textOf(cloudCommand('status', name)), 'beta bootstrap-cloud extend');
    expect(Date.parse((await life.record(id))?.deadlineAt ?? '')).to.be.above(Date.parse(soon));
  });

  it('while it is protected: to remove it nonetheless', async () => {
    await textOf(cloudCommand('protect', name, '--until', '1h', '--reason', 'tests'));
    const said = await textOf(cloudCommand('cleanup', name, '--yes'));
    await runPrinted(said, 'beta bootstrap-cloud unprotect');
    expect((await life.record(id))?.protection).to.equal(undefined);
  });

  it('when its VMs were stopped for what they cost: to start them again, and to remove it', async () => {
    const { ceilings } = scene.stack.functionsHalf?.contextOf(functionNames.sweep).config ?? {};
    configure({ ceilings: { ...ceilings, beyond: 'stop', microsAnHour: 1 } });
    await life.change(id, { fuseAt: new Date(Date.now() - 1000).toISOString() });
    await life.swept();
    await life.swept();
    const said = await textOf(cloudCommand('status', name));
    expect(await textOf(cloudCommand('restart-vms', name))).to.contain("bootstrap-cloud cleanup 'my first'");
    configure({ ceilings });
    await runPrinted(said, 'beta bootstrap-cloud restart-vms');
  });

  it('when it cannot go to another team: to share it with that team', async () => {
    const made = await textOf(['team', 'create', 'platform']);
    const [team = ''] = /\d{6,}/.exec(made) ?? [];
    const { result } = await alice.bootstrap(name, { ...flags, team });
    await runPrinted(result.problem?.advice ?? '', 'beta bootstrap-cloud share');
    expect((await life.record(id))?.sharedTeams).to.deep.equal([Number(team)]);
  });

  it('when a removal is left alone: for an operator, to try it again and to watch it', async () => {
    const at = new Date().toISOString();
    const removal = { requestedAt: at, by: 'cleanup', why: 'expired', failures: 3, quarantinedAt: at };
    await life.change(id, { state: 'removal-failed', removal });
    const { result } = await alice.bootstrap(name, flags);
    await runPrinted(result.problem?.advice ?? '', 'beta bootstrap-cloud status');
    const said = await textOf(cloudCommand('status', name), admin);
    const again = await runPrinted(said, 'beta bootstrap-cloud cleanup', admin, ['--yes']);
    expect(await runPrinted(again, 'beta bootstrap-cloud status', admin)).to.contain('removed');
    expect(life.project(projectId)).to.include({ state: 'DELETE_REQUESTED' });
  });
});
