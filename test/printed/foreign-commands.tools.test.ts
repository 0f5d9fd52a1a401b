/** The commands of gcloud, kubectl and sops that plinth prints, as the programs themselves know them. */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { foreignCommands } from './foreign-commands.js';
import { pageCode } from './texts.js';

/** gcloud keeps the tree of its commands for the completion of shells. */
const treeOfGcloud = `
import importlib.util, os, subprocess, sys
root = subprocess.run(['gcloud', 'info', '--format=value(installation.sdk_root)'], capture_output=True, text=True).stdout.strip()
spec = importlib.util.spec_from_file_location('tree', os.path.join(root, 'data', 'cli', 'gcloud_completions.py'))
tree = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tree)
tree = tree.STATIC_COMPLETION_CLI_TREE
`;

/** Prints what of the input is no command. */
const unknownToGcloud = `${treeOfGcloud}
for line in sys.stdin.read().splitlines():
    node = tree
    for word in line.split():
        node = node and node.get('commands', {}).get(word)
    # Hidden commands are in no tree.
    surface = os.path.join(root, 'lib', 'surface', *line.replace('-', '_').split()) + '.py'
    if (not node or node.get('commands')) and not os.path.exists(surface):
        print(line)
`;

/** Prints the commands of the input whose flags are not all known. The tree leaves out the flags that every list has. */
const withUnknownFlags = `${treeOfGcloud}
of_lists = {'--filter', '--limit', '--page-size', '--sort-by', '--uri'}
for line in sys.stdin.read().splitlines():
    node, words = tree, line.split()
    while words and words[0] in node.get('commands', {}):
        node = node['commands'][words.pop(0)]
    known = {*node['flags'], *tree['flags'], *(of_lists if 'list' in line.split() or 'read' in line.split() else [])}
    flags = {word.split('=')[0] for word in words if word.startswith('--')}
    unknown = {flag for flag in flags if not {flag, flag.replace('--no-', '--')} & known}
    if 'commands' in node and not node['commands'] and unknown:
        print(line, unknown)
`;

describe('a printed command of another program', function () {
  this.timeout(60_000);

  it('is one of gcloud', () => {
    const input = foreignCommands['gcloud']?.join('\n') ?? '';
    expect(execFileSync('python3', ['-c', unknownToGcloud], { input, encoding: 'utf8' })).to.equal('');
  });

  it('of a page has only flags that gcloud knows', () => {
    const lines = pageCode('docs').flatMap(({ text }) =>
      [...text.matchAll(/(?<![\w./@-])gcloud ([a-z][^|;)]*)/g)].map(([, command = '']) =>
        command.replaceAll(/'[^']*'|"[^"]*"/g, 'text'),
      ),
    );
    expect(lines).to.have.length.above(100);
    const options = { input: lines.join('\n'), encoding: 'utf8' } as const;
    expect(execFileSync('python3', ['-c', withUnknownFlags], options)).to.equal('');
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
