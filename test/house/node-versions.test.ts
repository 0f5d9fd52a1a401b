/** The Nodes that plinth supports, as each place that names one says; and the Node that the tests themselves run on. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { nodeVersion } from '../../tools/bundle/node-for-linux.js';
import { dependOnNode } from '../../tools/tests/tiers.js';

const read = (file: string): string => readFileSync(file, 'utf8');
const found = (file: string, pattern: RegExp): string | undefined => pattern.exec(read(file))?.[1];
const [functionsMajor] = nodeVersion('functions').split('.');

describe('the Nodes that plinth supports', () => {
  it('begin with the oldest that bundles and tests are run on', () => {
    const { engines } = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };
    const [, oldest] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? [];
    expect(`${oldest}.0`).to.equal(nodeVersion('oldest'));
    for (const file of ['README.md', 'docs/operate/deploy.md']) {
      expect(read(file), file).to.contain(`Node ${oldest} or newer`);
    }
  });

  it('are deployed and built on as they are tested', () => {
    expect(found('terraform/functions.tf', /runtime += "nodejs(\d+)"/)).to.equal(functionsMajor);
    expect(found('.ci/Dockerfile', /NODE_MAJOR=(\d+)/)).to.equal(functionsMajor);
    expect(read('docs/operate/deploy.md')).to.contain(`${functionsMajor} is what the functions run on`);
  });

  it('are the ones that test:node was asked for, also for programs that are found by the name of node', () => {
    const asked = process.env['PLINTH_TEST_NODE'];
    if (asked !== undefined) expect(process.versions.node).to.equal(asked);
    expect(execFileSync('node', ['--version'], { encoding: 'utf8' }).trim()).to.equal(process.version);
  });

  it('run tests that exist', () => {
    const missing = dependOnNode.filter(
      (each) => !existsSync(each.endsWith('/') ? `test/${each}` : `test/${each}.test.ts`),
    );
    expect(missing).to.deep.equal([]);
  });
});
