/** `plinth beta bootstrap-cloud transfer` asks before a project has another owner: only its present one could undo that. */
import { expect } from 'chai';
import { bootstrap } from './run-cli.js';
import { useStandingService } from './standing-service.js';

describe('plinth beta bootstrap-cloud transfer', function () {
  this.timeout(30_000);
  const world = useStandingService('transfer', { owner: 'bob@example.com' });

  const transfer = [...bootstrap, 'transfer', 'demo', '--with', 'bob@example.com'];

  it('says what it means, and does it after a yes', async () => {
    const started = world.sandbox.startOnTerminal(transfer);
    await started.saw(/\[y\/N\] $/);
    expect(started.text())
      .to.include('demo (demo-ab12cd34)')
      .and.include('bob@example.com')
      .and.include('sees it no more');
    expect(world.asked()).to.equal(0);
    started.type('y\n');
    const { code, stdout } = await started.ended;
    expect(code, stdout).to.equal(0);
    expect(stdout).to.include("is bob@example.com's now");
    expect(world.asked()).to.equal(1);
  });

  for (const [what, keys, exit] of [
    ['a no', 'n\n', 2],
    ['an empty line', '\n', 2],
    ['the end of the input', '\u0004', 2],
    ['Ctrl-C', '\u0003', 130],
  ] as const) {
    it(`changes nothing after ${what}, and says so`, async () => {
      const started = world.sandbox.startOnTerminal(transfer);
      await started.saw(/\[y\/N\] $/);
      started.type(keys);
      const { code, stdout } = await started.ended;
      expect(code, stdout).to.equal(exit);
      expect(stdout).to.match(/nothing was changed/i);
      expect(world.asked()).to.equal(0);
    });
  }

  it('is refused where nobody can be asked; --yes does without', async () => {
    const refused = await world.sandbox.run(transfer);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.include('--yes is needed here, as there is no terminal to ask on');
    expect(world.asked()).to.equal(0);
    const { code, stderr } = await world.sandbox.run([...transfer, '--yes']);
    expect(code, stderr).to.equal(0);
    expect(world.asked()).to.equal(1);
  });
});
