/** The commands of gcloud, kubectl and sops that plinth prints, as the programs themselves know them. */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { foreignCommands } from './foreign-commands.js';

/** gcloud keeps the tree of its commands for the completion of shells. Prints what of the input is no command in it. */
const unknownToGcloud = `
import importlib.util, os, subprocess, sys
root = subprocess.run(['gcloud', 'info', '--format=value(installation.sdk_root)'], capture_output=True, text=True).stdout.strip()
spec = importlib.util.spec_from_file_location('tree', os.path.join(root, 'data', 'cli', 'gcloud_completions.py'))
tree = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tree)
for line in sys.stdin.read().splitlines():
    node = tree.STATIC_COMPLETION_CLI_TREE
    for word in line.split():
        node = node and node.get('commands', {}).get(word)
    # Hidden commands are in no tree.
    surface = os.path.join(root, 'lib', 'surface', *line.replace('-', '_').split()) + '.py'
    if (not node or node.get('commands')) and not os.path.exists(surface):
        print(line)
`;

describe('a printed command of another program', function () {
  this.timeout(60_000);

  it('is one of gcloud', () => {
    const input = foreignCommands['gcloud']?.join('\n') ?? '';
    expect(execFileSync('python3', ['-c', unknownToGcloud], { input, encoding: 'utf8' })).to.equal('');
  });

  for (const program of ['kubectl', 'sops'] as const) {
    for (const verb of foreignCommands[program] ?? []) {
      it(`is one of ${program}: ${verb}`, () => {
        const help = execFileSync(program, [verb, '--help'], { encoding: 'utf8' });
        expect(help).to.contain(`${program} ${verb}`);
      });
    }
  }
});
