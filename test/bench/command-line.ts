/** What a person waits for at a prompt, beside what Node itself takes to start: `plinth --help`, and the completion of a project. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Figure, type Measurement, median } from './figures.js';

const plinth = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
/** That commands have seen, and that completion offers. */
const projects = 200;

const pairs = 20;

interface Run {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

function timed({ program, args, env }: Run): number {
  const begun = performance.now();
  const { status } = spawnSync(program, args, { stdio: 'ignore', ...(env !== undefined && { env }) });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`);
  return performance.now() - begun;
}

/** The medians of both, run by turns, so that a busy moment of the machine hits both. */
function besideNode(name: string, aim: number, run: Run): Figure {
  const nothing: Run = { program: process.execPath, args: ['-e', '0'] };
  timed(run);
  timed(nothing);
  const [times, baseline]: [number[], number[]] = [[], []];
  for (let i = 0; i < pairs; i++) {
    if (i % 2 === 0) times.push(timed(run));
    baseline.push(timed(nothing));
    if (i % 2 === 1) times.push(timed(run));
  }
  return {
    name,
    value: median(times),
    unit: 'ms',
    baseline: { name: 'node -e 0', value: median(baseline), unit: 'ms' },
    aim,
  };
}

/** A bash that reads the script of completion, and completes from the names that commands have seen. */
function completed(): Figure {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-completion-'));
  try {
    const names = join(folder, 'plinth', 'names');
    mkdirSync(names, { recursive: true });
    writeFileSync(join(names, 'projects'), Array.from({ length: projects }, (_, n) => `project-${n}\n`).join(''));
    const script = join(folder, 'plinth.bash');
    writeFileSync(script, execFileSync(process.execPath, [plinth, 'completion', 'bash']));
    const typed = `. '${script}'; COMP_WORDS=(plinth beta bootstrap-cloud status project-19) COMP_CWORD=4; _plinth; [ "\${#COMPREPLY[@]}" = 11 ]`;
    const env = { ...process.env, XDG_CACHE_HOME: folder };
    const args = ['--norc', '--noprofile', '-c', typed];
    return besideNode(`completion of one of ${projects} projects`, 1, { program: 'bash', args, env });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const commandLine: Measurement = {
  name: 'command-line',
  title: 'plinth --help, and completion in bash',
  mostSeconds: 120,
  async *measure() {
    yield besideNode('plinth --help', 2, { program: process.execPath, args: [plinth, '--help'] });
    yield completed();
  },
};
