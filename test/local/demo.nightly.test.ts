/** The demo as one sees it on a terminal of 80 columns, by the cells of a terminal emulator, and what it counts after its kills. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { loadScreens } from '../../tools/images/screen.js';

const program = fileURLToPath(new URL('../../local/demo.js', import.meta.url));

describe('the demo', function () {
  this.timeout(400_000);

  it('shows its phases and the live view, breaks no line, and leaves its summary on the screen', async () => {
    const size = { columns: 80, rows: 30 };
    const open = await loadScreens();
    const command = `stty rows ${size.rows} cols ${size.columns}; exec '${process.execPath}' '${program}'`;
    const env = { ...process.env, TERM: 'xterm-256color' };
    const child = spawn('script', ['-qfec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const drawn = await text(child.stdout);
    const screen = open(size);
    await screen.write(drawn);
    const lines = screen.lines();
    const seen = [...screen.scrolled(), ...lines].join('\n');
    const phases = seen.match(/^── .*?(?= ─)/gm);
    expect(phases, seen).to.have.lengthOf(6);
    expect(stripVTControlCharacters(drawn)).to.match(/█+░* {2}\d+\/\d+ {2}\d+s/);
    expect(seen)
      .to.match(/^Watch it in a browser, too: http:\/\/127\.0\.0\.1:\d+$/m)
      .and.match(/Cost +about [\d.]+ USD an hour/)
      .and.match(/✓ Kubernetes: three nodes are Ready/)
      .and.match(/k0s-1 +Ready/)
      .and.match(/\$ plinth open plinth-demo\n {2}https:\/\/cs\.demo\.\S+$/m)
      .and.match(/✓ the platform answers on the jumpbox: ok/)
      .and.match(/Error: Team \d+ cannot be migrated/)
      .and.match(/is in organization acme now/);
    expect(stripVTControlCharacters(drawn)).to.match(/\d+ s until its time is over/);
    expect(lines.join('\n'))
      .to.match(/── All was there, and went when its time was over: \d+ s/)
      .and.match(/Slowest: .*\d+(?:\.\d)?s, /);
    expect(screen.wrapped()).to.deep.equal([]);
  });

  it('has a project that was prepared, and the bootstrap takes it, in a pipe', async () => {
    const args = [program, '--pool', '--machines', 'none'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const said = await text(child.stdout);
    expect(await ended, said).to.equal(0);
    expect(said)
      .to.match(/^── A project is prepared before anybody asks$/m)
      .and.match(/^\$ plinth pool status/m)
      .and.match(/1 of 1/)
      .and.match(/✓ pool-[a-z0-9]{8} waited, and is plinth-demo now/)
      .and.match(/✓ pool-[a-z0-9]{8} is deleted and unlinked from its billing account/);
    expect(said).not.to.contain('\u001b');
  });

  it('kills functions and command line, and all is there once', async () => {
    const child = spawn(process.execPath, [program, '--chaos'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const said = await text(child.stdout);
    expect(await ended, said).to.equal(0);
    expect(said.match(/kill -9 \d+: the functions are gone/g)).to.have.length.above(2);
    expect(said)
      .to.match(/kill -9 \d+: the command line is gone, too/)
      .and.match(/✓ nothing twice: \d+ calls to the cloud, each thing made once/)
      .and.match(/✓ nothing lost: all \d+ things stand/)
      .and.match(/\nSame end, nothing twice, nothing lost\.\n$/);
  });
});
