/** How long a person waits for `plinth --help`. */
import { fileURLToPath } from 'node:url';
import { besideNode } from './beside-node.js';
import type { Measurement } from './figures.js';

const program = fileURLToPath(new URL('../cli/main.js', import.meta.url));

export const help: Measurement = {
  name: 'help',
  title: 'plinth --help',
  mostSeconds: 60,
  async *measure() {
    yield besideNode('plinth --help', 2, { program: process.execPath, args: [program, '--help'] });
  },
};
