/** How long a person waits for the names that completion offers: a bash that reads the script, and completes from what commands have seen. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { besideNode } from './beside-node.js';
import type { Measurement } from './figures.js';

const program = fileURLToPath(new URL('../cli/main.js', import.meta.url));
const projects = 200;

export const completion: Measurement = {
  name: 'completion',
  title: 'completion of a project, of 200 that commands have seen',
  mostSeconds: 60,
  async *measure() {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-completion-'));
    try {
      const names = join(folder, 'plinth', 'names');
      mkdirSync(names, { recursive: true });
      writeFileSync(join(names, 'projects'), Array.from({ length: projects }, (_, n) => `project-${n}\n`).join(''));
      const script = join(folder, 'plinth.bash');
      writeFileSync(script, execFileSync(process.execPath, [program, 'completion', 'bash']));
      const typed = `. '${script}'; COMP_WORDS=(plinth beta bootstrap-cloud status project-19) COMP_CWORD=4; _plinth; [ "\${#COMPREPLY[@]}" = 11 ]`;
      const env = { ...process.env, XDG_CACHE_HOME: folder };
      yield besideNode('completion', 1, { program: 'bash', args: ['--norc', '--noprofile', '-c', typed], env });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
