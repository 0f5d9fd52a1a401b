/** The record of an organization and of a team at the command line: asked for in part, taken out whole, and followed. */
import { expect } from 'chai';
import { until } from '../support/halves.js';
import { runAt, startAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene } from '../support/scene.js';

interface Shown {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly email?: string;
}

describe('the record at the command line', function () {
  this.timeout(120_000);
  let scene: Scene;
  let alice: Caller;
  let bob: Caller;
  let team: string;

  const plinth = async (caller: Caller, ...args: string[]) => {
    const ran = await runAt(args, caller);
    expect(ran.exitCode, `${args.join(' ')}\n${ran.stderr}`).to.equal(0);
    return ran.stdout;
  };
  const events = async (...args: string[]): Promise<Shown[]> =>
    JSON.parse(await plinth(alice, 'org', 'events', 'acme', ...args, '--json')).events;

  before(async () => {
    scene = await makeScene();
    alice = await scene.caller('alice@example.com');
    bob = await scene.caller('bob@example.com');
    await plinth(alice, 'org', 'create', 'acme');
    await plinth(alice, 'org', 'add-member', 'acme', 'bob@example.com', '--role', 'admin');
    await plinth(bob, 'org', 'add-member', 'acme', 'carol@example.com');
    await plinth(bob, 'org', 'remove-member', 'acme', 'carol@example.com', '--yes');
    team = String(JSON.parse(await plinth(alice, 'team', 'create', 'platform', '--json')).team.teamId);
    await plinth(alice, 'team', 'add-member', team, 'bob@example.com');
    await plinth(alice, 'team', 'migrate', team, '--organization', 'acme', '--yes');
  });
  after(() => scene?.close());

  for (const [asked, args, actions] of [
    ['what one person did', ['--actor', 'bob@example.com'], ['member-removed', 'member-added']],
    ['one kind', ['--action', 'organization-created'], ['organization-created']],
    ['what concerns one person', ['--member', 'carol@example.com'], ['member-removed', 'member-added']],
    [
      'all of it together',
      ['--actor', 'bob@example.com', '--action', 'member-added', '--since', '1h'],
      ['member-added'],
    ],
    ['what was before it began', ['--until', '1h'], []],
  ] as const) {
    it(`shows ${asked}`, async () => {
      expect((await events(...args)).map(({ action }) => action)).to.deep.equal(actions);
    });
  }

  it('shows what concerns one team', async () => {
    const shown = await events('--team', team);
    expect(shown.map(({ action }) => action)).to.deep.equal(['team-migrated']);
    expect(await events('--team', '1')).to.deep.equal([]);
  });

  it('tells all faults of what is asked at once', async () => {
    const { exitCode, stderr } = await runAt(
      [
        'org',
        'events',
        'acme',
        '--action',
        'x',
        '--actor',
        'bob',
        '--since',
        'soon',
        '--until',
        '1h',
        '--team',
        'x',
        '--follow',
      ],
      alice,
    );
    expect(exitCode).to.equal(2);
    for (const flag of ['--action', '--actor', '--since', '--until', '--team']) expect(stderr).to.contain(`${flag} `);
  });

  it('gives all of it as lines of JSON, oldest first', async () => {
    const lines = (await plinth(alice, 'org', 'events', 'acme', '--json-lines')).trim().split('\n');
    const all = lines.map((line) => JSON.parse(line) as Shown);
    expect(all.map(({ id }) => id)).to.deep.equal((await events()).map(({ id }) => id).reverse());
    expect(all[0]).to.include({ action: 'organization-created', actor: 'alice@example.com' });
  });

  it('shows what happened to a team, also before it came into its organization', async () => {
    const shown = JSON.parse(await plinth(alice, 'team', 'events', team, '--json')).events as Shown[];
    expect(shown.map(({ action }) => action)).to.deep.equal(['team-migrated', 'team-member-added', 'team-created']);
  });

  it('goes on with what happens, each once, until Ctrl-C', async () => {
    const args = ['org', 'events', 'acme', '--follow', '--json-lines', '--limit', '1', '--actor', 'bob@example.com'];
    const following = startAt(args, alice);
    const lines = () => following.stdout().split('\n').slice(0, -1);
    await until('the last one', async () => lines().length === 1 || undefined);
    await plinth(bob, 'org', 'add-member', 'acme', 'dora@example.com');
    await plinth(alice, 'org', 'add-member', 'acme', 'erik@example.com');
    await plinth(bob, 'org', 'set-role', 'acme', 'dora@example.com', 'admin');
    await until('two more', async () => lines().length === 3 || undefined);
    following.interrupt();
    expect((await following.ended).exitCode).to.equal(130);
    const told = lines().map((line) => JSON.parse(line) as Shown);
    expect(told.map(({ action, email }) => [action, email])).to.deep.equal([
      ['member-removed', 'carol@example.com'],
      ['member-added', 'dora@example.com'],
      ['member-role-changed', 'dora@example.com'],
    ]);
  });

  it('is for admins', async () => {
    const frank = await scene.caller('frank@example.com');
    expect((await runAt(['team', 'events', team], frank)).exitCode).to.equal(4);
  });
});
