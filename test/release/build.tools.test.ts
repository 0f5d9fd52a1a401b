/** The build: what is in dist is what the sources say, and nothing is compiled where it is. Held on a small project of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { until } from '../support/halves.js';
import { projectFolder } from '../support/recording-store.js';

/** Stands for the bundle of the command line: what the entry was compiled to, with a line more. It waits while there is a file hold. */
const bundler = `
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
if (existsSync('hold')) writeFileSync('held', '');
while (existsSync('hold')) await sleep(20);
const [into = '', inputs = ''] = process.argv.slice(2);
mkdirSync(into, { recursive: true });
writeFileSync(into + '/main.js', readFileSync('cli/main.ts', 'utf8') + '// bundled\\n');
writeFileSync(inputs, JSON.stringify(['cli/main.ts', 'node_modules/some/index.js']));
`;

describe('the build', function () {
  this.timeout(120_000);
  let folder: string;
  const at = (file: string) => join(folder, file);
  const read = (file: string) => readFileSync(at(file), 'utf8');
  const write = (file: string, text: string) => {
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), text);
  };
  const start = (): ChildProcess =>
    spawn(process.execPath, [at('tools/build.mjs')], { stdio: ['ignore', 'pipe', 'pipe'] });
  const end = async (child: ChildProcess): Promise<{ code: number | null; said: string }> => {
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (said += data));
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, said };
  };
  const build = async (): Promise<void> => {
    const { code, said } = await end(start());
    expect(code, said).to.equal(0);
  };
  /** Changes with every compilation. */
  const compiledAt = () => statSync(at('dist-build/stamp.json')).mtimeMs;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-build-'));
    const { compilerOptions } = JSON.parse(readFileSync(join(projectFolder, 'tsconfig.json'), 'utf8'));
    write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['cli', 'test', 'tools'] }));
    write('package.json', '{ "type": "module" }');
    write('package-lock.json', '{}');
    for (const file of readdirSync(join(projectFolder, 'tools')).filter((each) => each.endsWith('.mjs'))) {
      cpSync(join(projectFolder, 'tools', file), at(join('tools', file)));
    }
    for (const name of readdirSync(join(projectFolder, 'node_modules')).filter((each) => !each.startsWith('.'))) {
      mkdirSync(at('node_modules'), { recursive: true });
      symlinkSync(join(projectFolder, 'node_modules', name), at(join('node_modules', name)));
    }
    write('node_modules/.package-lock.json', '{}');
    write('node_modules/some/index.js', '1');
    write('tools/bundle/build-cli.ts', bundler);
    write('cli/main.ts', 'export const one = 1;\n');
    write('test/first.test.ts', 'export const first = 1;\n');
    write('test/deep/second.test.ts', 'export const second = 1;\n');
    await build();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('compiles the sources, and bundles the command line over what was compiled', () => {
    expect(read('dist/test/first.test.js')).to.include('first = 1');
    expect(read('dist/cli/main.js')).to.include('// bundled');
    expect(existsSync(at('dist/cli/main.js.map')), 'a map of what is no longer there').to.equal(false);
  });

  it('compiles nothing where nothing changed, whatever the times of the sources say', async () => {
    const before = compiledAt();
    utimesSync(at('test/first.test.ts'), new Date(), new Date());
    await build();
    expect(compiledAt()).to.equal(before);
  });

  it('compiles what changed, even to the same size and time, and back', async () => {
    const { atime, mtime } = statSync(at('test/first.test.ts'));
    for (const value of [2, 1]) {
      write('test/first.test.ts', `export const first = ${value};\n`);
      utimesSync(at('test/first.test.ts'), atime, mtime);
      await build();
      expect(read('dist/test/first.test.js')).to.include(`first = ${value}`);
    }
  });

  it('touches no file whose content stays', async () => {
    const of = () => statSync(at('dist/test/deep/second.test.js')).mtimeMs;
    const before = of();
    write('test/first.test.ts', 'export const first = 3;\n');
    await build();
    expect(of()).to.equal(before);
  });

  it('removes what no source stands for, and its empty folders', async () => {
    rmSync(at('test/deep'), { recursive: true });
    write('dist/test/planted.test.js', '');
    await build();
    expect(readdirSync(at('dist/test')).sort()).to.deep.equal(['first.test.js', 'first.test.js.map']);
  });

  it('keeps what is not of the sources', async () => {
    write('dist/bin/program', 'program');
    write('test/first.test.ts', 'export const first = 4;\n');
    await build();
    expect(read('dist/bin/program')).to.equal('program');
  });

  const damages: readonly (readonly [title: string, damage: () => void])[] = [
    ['is gone from dist', () => rmSync(at('dist/test/first.test.js'))],
    ['was changed in dist', () => write('dist/test/first.test.js', 'changed')],
    ['is gone with all of dist', () => rmSync(at('dist'), { recursive: true })],
    [
      'was changed where tsc wrote it',
      () => {
        write('dist-build/test/first.test.js', 'changed');
        rmSync(at('dist/test/first.test.js'));
      },
    ],
    [
      'is gone, with all that tsc wrote',
      () => {
        rmSync(at('dist-build'), { recursive: true });
        rmSync(at('dist/test/first.test.js'));
      },
    ],
  ];
  for (const [title, damage] of damages) {
    it(`makes again what ${title}`, async () => {
      damage();
      await build();
      expect(read('dist/test/first.test.js')).to.include('first = 4');
    });
  }

  const causes: readonly (readonly [title: string, change: () => void])[] = [
    ['packages were installed', () => write('node_modules/.package-lock.json', '{ "other": 1 }')],
    ['a package in the bundle was changed by hand', () => write('node_modules/some/index.js', 'longer')],
    ['the settings of the compiler changed', () => write('tsconfig.json', read('tsconfig.json').replace('{', '{ '))],
  ];
  for (const [title, change] of causes) {
    it(`compiles after ${title}`, async () => {
      const before = compiledAt();
      change();
      await build();
      expect(compiledAt()).to.be.above(before);
    });
  }

  it('leaves dist as it was where the sources have a fault, says so each time, and goes on once it is mended', async () => {
    write('test/first.test.ts', 'export const first: string = 5;\n');
    for (let i = 0; i < 2; i++) {
      const { code, said } = await end(start());
      expect(code).to.not.equal(0);
      expect(said).to.include('test/first.test.ts(1,14)');
      expect(read('dist/test/first.test.js')).to.include('first = 4');
    }
    write('test/first.test.ts', 'export const first = 5;\n');
    await build();
    expect(read('dist/test/first.test.js')).to.include('first = 5');
  });

  /** A build that stands still between compiling and installing. */
  const startHeld = async (): Promise<ChildProcess> => {
    write('hold', '');
    const building = start();
    await until('it stands still', () => existsSync(at('held')) || undefined);
    return building;
  };
  const letGo = () => {
    for (const file of ['hold', 'held']) rmSync(at(file));
  };

  it('goes on where one was killed, with what the sources say then, once all that it started has ended', async () => {
    write('test/first.test.ts', 'export const first = 6;\n');
    const killed = await startHeld();
    killed.kill('SIGKILL');
    await new Promise((resolve) => killed.on('exit', resolve));
    write('test/first.test.ts', 'export const first = 60;\n');
    const next = start();
    let waits = '';
    next.stderr?.on('data', (data) => (waits += data));
    await until('the next one waits', () => waits.includes('Waits for another build') || undefined);
    letGo();
    expect(await end(next)).to.include({ code: 0 });
    expect(read('dist/test/first.test.js')).to.include('first = 60');
  });

  it('is done once by several that are started at once, and all end well', async () => {
    write('test/first.test.ts', 'export const first = 7;\n');
    const ends = await Promise.all([1, 2, 3].map(() => end(start())));
    expect(
      ends.map(({ code }) => code),
      ends.map(({ said }) => said).join(''),
    ).to.deep.equal([0, 0, 0]);
    expect(read('dist/test/first.test.js')).to.include('first = 7');
    expect(existsSync(at('dist-build/lock'))).to.equal(false);
  });

  it('holds what was written while it compiled', async () => {
    write('test/first.test.ts', 'export const first = 8;\n');
    const building = await startHeld();
    write('test/first.test.ts', 'export const first = 9;\n');
    letGo();
    expect(await end(building)).to.include({ code: 0 });
    expect(read('dist/test/first.test.js')).to.include('first = 9');
  });
});
