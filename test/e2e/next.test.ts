/** `next` of a problem: the command that whoever reads `--json` runs after a failure, and what it leads to. */
import { expect } from 'chai';
import { loadCommands } from '../../cli/commands/index.js';
import { createRegistry } from '../../cli/frame/registry.js';
import { readCommand } from '../../cli/run.js';
import { local, people } from '../../local/stack/deployment.js';
import { type Life, lifeOf } from '../support/life.js';
import { type PlinthHere, runAt, startAt } from '../support/plinth-here.js';
import { argsOf, type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const commands = await loadCommands();

const beta = ['beta', 'bootstrap-cloud'];
const registry = createRegistry(commands);

/** What somebody meets, and what its advice ends when they run it as it is printed. */
interface Story {
  readonly problem: string;
  readonly before?: readonly (readonly string[])[];
  /** Fails first, and succeeds once the command of its advice has run. */
  readonly args: readonly string[];
}

const stories: readonly Story[] = [
  {
    problem: 'a member who is not in the organization that their team moves into',
    before: [['team', 'add-member', 'TEAM', 'bob@example.com']],
    args: ['team', 'migrate', 'TEAM', '--organization', 'acme', '--yes'],
  },
];
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
    args: [...beta, 'cleanup', 'standing', '--yes'],
    exitCode: 5,
    next: 'plinth beta bootstrap-cloud status standing',
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

/** What a program runs that knows what it wants and reads what plinth says: each try has what the last failure told it. */
interface Chain {
  readonly wanted: string;
  readonly tries: readonly (readonly string[])[];
  /** Words that only the one who asks can know. Every other one stands in what was read before. */
  readonly own: readonly string[];
  readonly failures: number;
  /** Without a token at first. Without this, who owns the bootstraps. */
  readonly by?: 'newcomer';
}

const chains: readonly Chain[] = [
  {
    wanted: 'to see a project, without having logged in',
    tries: [
      [...beta, 'statu'],
      [...beta, 'status'],
      [...beta, 'status', 'mine'],
      [...beta, 'status', 'mine'],
      [...beta, 'status', 'standing'],
    ],
    own: ['mine'],
    failures: 4,
    by: 'newcomer',
  },
  {
    wanted: 'to protect a project',
    tries: [
      [...beta, 'protect'],
      [...beta, 'protect', 'standing'],
      [...beta, 'protect', 'standing', '--until', '2', '--reason', 'a look'],
      [...beta, 'protect', 'standing', '--until', '2d', '--reason', 'a look'],
    ],
    own: ['standing', '2', 'a look'],
    failures: 3,
  },
  {
    wanted: 'to see who is in an organization',
    tries: [
      ['org', 'member'],
      ['org', 'members'],
      ['org', 'members', nobody],
      ['org', 'members', 'acme'],
    ],
    own: [nobody],
    failures: 3,
  },
  {
    wanted: 'to see who is in a team',
    tries: [
      ['team'],
      ['team', 'members'],
      ['team', 'members', 'x'],
      ['team', 'members', '123456789'],
      ['team', 'members', 'TEAM'],
    ],
    own: ['x', '123456789'],
    failures: 4,
  },
  {
    wanted: 'a new project',
    tries: [
      ['beta', 'bootstrap-clod'],
      beta,
      [...beta, ...argsOf('chained', { 'billing-account': 'x' })],
      [...beta, ...argsOf('chained', { 'billing-account': 'AAAAAA-BBBBBB-CCCCCC' })],
      [...beta, ...argsOf('chained')],
    ],
    own: [...argsOf('chained').filter((word) => !word.startsWith('--')), 'x', 'AAAAAA-BBBBBB-CCCCCC'],
    failures: 4,
  },
  {
    wanted: 'to go on with what failed',
    tries: [
      [...beta, 'status', 'failing', '--follow'],
      [...beta, ...argsOf('failing')],
    ],
    own: argsOf('failing'),
    failures: 1,
  },
  {
    wanted: 'to see projects, at an address that serves nothing',
    tries: [
      [...beta, 'list', '--endpoint', 'http://127.0.0.1:9'],
      [...beta, 'list'],
    ],
    own: [],
    failures: 1,
  },
  // Last, because the others need the project.
  {
    wanted: 'to remove a project that turns out to be protected',
    tries: [
      [...beta, 'cleanup', 'standing'],
      [...beta, 'cleanup', 'standing', '--yes'],
      [...beta, 'unprotect', 'standing'],
      [...beta, 'cleanup', 'standing', '--yes'],
    ],
    own: [],
    failures: 2,
  },
];

describe('next', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let team: string;
  const callers: Partial<Record<'owner' | 'stranger' | 'operator', Caller>> = {};

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    const owner = await scene.caller('alice@example.com');
    const stranger = await scene.caller('bob@example.com');
    Object.assign(callers, { owner, stranger, operator: await scene.caller(people.admin) });
    succeeded(await owner.bootstrap('standing'));
    await runAt([...beta, 'protect', 'standing', '--until', '2h', '--reason', 'a look'], owner);
    const method = 'compute.networks.insert';
    const fault = scene.cloud.faults.add({ method, times: 0, code: 400, status: 'INVALID_ARGUMENT' });
    await owner.bootstrap('failing');
    scene.cloud.faults.remove(fault);
    await runAt(['org', 'create', 'acme'], owner);
    const made = await runAt(['team', 'create', 'platform', '--json'], owner);
    team = String(JSON.parse(made.stdout.trim()).team.teamId);
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

  /** A person agrees at the issuer. */
  async function agree(login: PlinthHere, email: string): Promise<void> {
    const address = new URL(await said(login, /https?:\S+code_challenge\S+/));
    address.searchParams.set('email', email);
    await fetch(address);
  }
  /** Runs it as JSON. Only `plinth login` needs a person. */
  async function read(args: readonly string[], caller: Pick<Caller, 'folder' | 'env'>) {
    const started = startAt([...args, '--json'], caller);
    if (args[0] === 'login') await agree(started, 'alice@example.com');
    const { exitCode, stdout, stderr } = await started.ended;
    return { exitCode, stdout, stderr, problem: JSON.parse(stdout.trim().split('\n').at(-1) ?? '').problem };
  }
  const callerOf = async ({ by }: Chain): Promise<Pick<Caller, 'folder' | 'env'>> => {
    const { folder, env } = by === 'newcomer' ? await scene.caller('alice@example.com') : (callers.owner as Caller);
    return {
      folder,
      env: by === 'newcomer' ? { ...env, PLINTH_TOKEN: '', PLINTH_OAUTH_CLIENT_ID: local.oauthClient } : env,
    };
  };

  for (const chain of chains) {
    it(`leads to the end whoever wants ${chain.wanted}`, async () => {
      const caller = await callerOf(chain);
      const met: string[] = [];
      let known = [...chain.own, ...(chain.tries[0] ?? [])].join('\n');
      let last: number | null = null;
      for (const words of chain.tries) {
        const args = words.map((word) => (word === 'TEAM' ? team : word));
        for (const word of args) expect(known, `nothing has told ${word}`).to.include(word);
        const { exitCode, stdout, stderr, problem } = await read(args, caller);
        known += stdout;
        last = exitCode;
        if (exitCode === 0) continue;
        const failure = `${problem.code}: ${problem.detail}`;
        expect(met, 'each step makes progress').to.not.include(failure);
        met.push(failure);
        // Only a person logs in, so nothing is named for a program to run.
        if (problem.code === 'unauthenticated') expect(problem.next).to.equal(undefined);
        const after = await read(problem.next?.split(' ').slice(1) ?? commandIn(problem.advice), caller);
        expect(after.exitCode, `${stderr}\n${problem.next}\n${after.stderr}`).to.equal(0);
        known += after.stdout;
      }
      expect([last, met.length], met.join('\n')).to.deep.equal([0, chain.failures]);
    });
  }

  for (const { problem, before: earlier = [], args } of stories) {
    it(`of ${problem}: its advice, run as it is printed, ends it`, async () => {
      const filled = (words: readonly string[]) => words.map((word) => (word === 'TEAM' ? team : word));
      for (const words of earlier) expect((await run(filled(words), {})).exitCode, words.join(' ')).to.equal(0);
      const failed = await run(filled(args), {});
      expect(failed.exitCode, failed.stderr).not.to.equal(0);
      const advised = commandIn(failed.result.problem.advice);
      const after = await run(advised, {});
      expect(after.exitCode, `${advised.join(' ')}\n${after.stderr}`).to.equal(0);
      const again = await run(filled(args), {});
      expect(again.exitCode, again.stderr).to.equal(0);
    });
  }
});

/** The first command of a text that runs as it stands: the longest one, as what follows it is prose. */
function commandIn(text: string): readonly string[] {
  for (const [, rest = ''] of text.matchAll(/\bplinth ([^\n]*)/g)) {
    const words = rest.split(' ').map((word) => word.replace(/[.,;:]$/, ''));
    const whole = words
      .map((_, at) => words.slice(0, words.length - at))
      .find((args) => readCommand(args, registry)?.fits);
    if (whole !== undefined) return whole;
  }
  throw new Error(`no command is in: ${text}`);
}

/** Waits until it has said so, and returns that part. */
const said = ({ stdout, stderr, onText }: PlinthHere, pattern: RegExp): Promise<string> =>
  new Promise((resolve) => {
    const look = () => {
      const found = pattern.exec(stdout() + stderr())?.[0];
      if (found !== undefined) resolve(found);
    };
    onText(look);
    look();
  });
