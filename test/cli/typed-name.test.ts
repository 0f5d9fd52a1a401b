/** `plinth beta bootstrap-cloud cleanup` asks for the project's name, on a terminal: the very name removes, anything else changes nothing. */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { bootstrap } from './run-cli.js';
import { useStandingService } from './standing-service.js';

describe('plinth beta bootstrap-cloud cleanup', function () {
  this.timeout(30_000);
  const world = useStandingService('remove', { state: 'removing' });

  const cleanup = [...bootstrap, 'cleanup', 'demo'];
  const question = /Type the name of the project to remove it: $/;

  it('removes after its name, and shows before what goes', async () => {
    const started = world.sandbox.spawnOnTerminal(cleanup);
    await started.saw(question);
    expect(started.text())
      .to.include('This removes demo (demo-ab12cd34) of alice@example.com')
      .and.include('A record cs.demo.example.com');
    expect(world.asked()).to.equal(0);
    started.type('demo\n');
    const { code, stdout } = await started.ended;
    expect(code, stdout).to.equal(0);
    expect(stdout).to.include('demo is being removed').and.include('status demo-ab12cd34 --follow');
    expect(world.asked()).to.equal(1);
  });

  for (const [name, keys, exit] of [
    ['another name', 'demo-2\n', 2],
    ['the name in capitals', 'DEMO\n', 2],
    ['a yes', 'y\n', 2],
    ['an empty line', '\n', 2],
    ['the end of the input', '\u0004', 2],
    ['Ctrl-C', '\u0003', 130],
  ] as const) {
    it(`removes nothing after ${name}`, async () => {
      const started = world.sandbox.startOnTerminal(cleanup);
      await started.saw(question);
      started.type(keys);
      const { code, stdout } = await started.ended;
      expect(code, stdout).to.equal(exit);
      if (exit === 2) expect(stdout).to.include('not its name; nothing was removed');
      expect(world.asked()).to.equal(0);
    });
  }

  it('refuses where nobody can be asked, and says what to do; --yes does without', async () => {
    const { code, stdout, stderr } = await world.sandbox.run(cleanup);
    expect([code, stdout]).to.deep.equal([2, '']);
    expect(stderr).to.include('--yes is needed here, as there is no terminal to ask on');
    expect(world.service.seen).to.deep.equal([]);
    const sure = await world.sandbox.run([...cleanup, '--yes']);
    expect(sure.code, sure.stderr).to.equal(0);
    expect(world.asked()).to.equal(1);
  });

  it('forgets the sessions in which files of the bootstrap were sent, and those that are over', async () => {
    const folder = join(world.sandbox.configFolder, 'uploads');
    mkdirSync(folder, { recursive: true });
    const keep = (bootstrap: string, letter: string): string => {
      const name = `${bootstrap}-${letter.repeat(64)}`;
      writeFileSync(join(folder, name), 'https://storage.example.com/?upload_id=secret\n', { mode: 0o600 });
      return name;
    };
    const [own, others, old] = [keep('b-one', 'a'), keep('b-one-more', 'b'), keep('b-old', 'c')];
    const aWeekAgo = Date.now() / 1000 - 8 * 86_400;
    utimesSync(join(folder, old), aWeekAgo, aWeekAgo);
    await world.sandbox.run([...cleanup, '--dry-run']);
    expect(readdirSync(folder)).to.have.members([own, others, old]);
    expect((await world.sandbox.run([...cleanup, '--yes'])).code).to.equal(0);
    expect(readdirSync(folder)).to.deep.equal([others]);
  });

  it('shows with --dry-run what would go, asks nothing and removes nothing', async () => {
    const { code, stdout } = await world.sandbox.run([...cleanup, '--dry-run']);
    expect(code).to.equal(0);
    expect(stdout).to.include('Would remove demo (demo-ab12cd34)').and.include('cs.demo.example.com');
    const { remove } = JSON.parse((await world.sandbox.run([...cleanup, '--dry-run', '--json'])).stdout) as {
      remove: string[];
    };
    expect(remove).to.have.length(3);
    expect(world.asked()).to.equal(0);
  });
});
