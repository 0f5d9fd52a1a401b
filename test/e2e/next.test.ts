/** `next` of a problem: the command that whoever reads `--json` runs after a failure, and what it leads to. */
import { expect } from 'chai';
import { people } from '../../local/stack/deployment.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const beta = ['beta', 'bootstrap-cloud'];
const nobody = '00000000-0000-4000-8000-000000000000';

interface Case {
  readonly failure: string;
  readonly args: readonly string[];
  readonly exitCode: number;
  readonly next: string;
  /** Who runs it. Without this, who owns the bootstraps. */
  readonly by?: 'stranger' | 'operator';
}

const cases: readonly Case[] = [
  { failure: 'no command', args: [], exitCode: 2, next: 'plinth help' },
  { failure: 'a word that is no command', args: ['nothing'], exitCode: 2, next: 'plinth help' },
  {
    failure: 'a word mistyped',
    args: ['beta', 'bootstrap-clod'],
    exitCode: 2,
    next: 'plinth help beta bootstrap-cloud',
  },
  { failure: 'half of a command', args: ['team'], exitCode: 2, next: 'plinth help team' },
  { failure: 'required flags missing', args: beta, exitCode: 2, next: 'plinth help beta bootstrap-cloud' },
  {
    failure: 'an argument missing',
    args: [...beta, 'status'],
    exitCode: 2,
    next: 'plinth help beta bootstrap-cloud status',
  },
  {
    failure: 'a flag of another command',
    args: [...beta, 'status', 'standing', '--reason', 'x'],
    exitCode: 2,
    next: 'plinth help beta bootstrap-cloud status',
  },
  {
    failure: 'a value that is none of the few',
    args: [...beta, ...argsOf('odd', { 'registry-type': 'odd' })],
    exitCode: 2,
    next: 'plinth help beta bootstrap-cloud',
  },
  {
    failure: 'a flag that a command needs',
    args: [...beta, 'protect', 'standing', '--until', '2d'],
    exitCode: 2,
    next: 'plinth help beta bootstrap-cloud protect',
  },
  {
    failure: 'a question without a terminal',
    args: [...beta, 'cleanup', 'standing'],
    exitCode: 2,
    next: 'plinth help beta bootstrap-cloud cleanup',
  },
  {
    failure: 'a project that is not there',
    args: [...beta, 'status', 'absent'],
    exitCode: 4,
    next: 'plinth beta bootstrap-cloud list',
  },
  {
    failure: 'the project of somebody else',
    args: [...beta, 'cleanup', 'standing', '--yes'],
    exitCode: 4,
    next: 'plinth beta bootstrap-cloud list',
    by: 'stranger',
  },
  {
    failure: 'a VM that is not there',
    args: [...beta, 'restart-vms', 'standing', '--name', 'k0s-99'],
    exitCode: 2,
    next: 'plinth help beta bootstrap-cloud restart-vms',
  },
  {
    failure: 'a removal of what is protected',
    args: [...beta, 'cleanup', 'protected', '--yes'],
    exitCode: 5,
    next: 'plinth beta bootstrap-cloud status protected',
  },
  {
    failure: 'a bootstrap that failed, and is followed',
    args: [...beta, 'status', 'failing', '--follow'],
    exitCode: 7,
    next: 'plinth beta bootstrap-cloud status failing',
  },
  {
    failure: 'an organization that is not there',
    args: ['org', 'members', nobody],
    exitCode: 4,
    next: 'plinth org list',
  },
  {
    failure: 'a team that is not there',
    args: ['team', 'members', '123456789'],
    exitCode: 4,
    next: 'plinth team list',
  },
  { failure: 'a number that is none', args: ['team', 'members', 'x'], exitCode: 2, next: 'plinth help team members' },
  {
    failure: 'a list that is for operators',
    args: ['beta', 'cleanup', 'list'],
    exitCode: 3,
    next: 'plinth doctor',
    by: 'stranger',
  },
  {
    failure: 'a project that nobody sees',
    args: ['beta', 'cleanup', 'remove', 'absent-1a2b3c', '--yes'],
    exitCode: 4,
    next: 'plinth beta cleanup list',
    by: 'operator',
  },
  {
    failure: 'a service that does not answer',
    args: [...beta, 'list', '--endpoint', 'http://127.0.0.1:9'],
    exitCode: 6,
    next: 'plinth doctor',
  },
];

describe('next', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  const callers: Partial<Record<'owner' | 'stranger' | 'operator', Caller>> = {};

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    const owner = await scene.caller('alice@example.com');
    const stranger = await scene.caller('bob@example.com');
    Object.assign(callers, { owner, stranger, operator: await scene.caller(people.admin) });
    succeeded(await owner.bootstrap('standing'));
    succeeded(await owner.bootstrap('protected'));
    await runAt([...beta, 'protect', 'protected', '--until', '2h', '--reason', 'a look'], owner);
    const method = 'compute.networks.insert';
    const fault = scene.cloud.faults.add({ method, times: 0, code: 400, status: 'INVALID_ARGUMENT' });
    await owner.bootstrap('failing');
    scene.cloud.faults.remove(fault);
  });
  after(() => scene?.close());

  const run = async (args: readonly string[], { by }: Pick<Case, 'by'>) => {
    const caller = callers[by ?? 'owner'];
    if (caller === undefined) throw new Error('nobody runs it');
    const { exitCode, stdout, stderr } = await runAt([...args, '--json'], caller);
    return { exitCode, stderr, result: JSON.parse(stdout.trim().split('\n').at(-1) ?? '') };
  };

  for (const { failure, args, exitCode, next, ...who } of cases) {
    it(`of ${failure}: ${next}`, async () => {
      const failed = await run(args, who);
      expect(failed.exitCode, failed.stderr).to.equal(exitCode);
      const { problem } = failed.result;
      expect(problem.next, JSON.stringify(problem)).to.equal(next);
      for (const member of ['code', 'detail', 'cause', 'advice']) expect(problem[member], member).to.be.a('string');
      const after = await run(next.split(' ').slice(1), who);
      expect(after.exitCode, after.stderr).to.equal(0);
    });
  }
});
