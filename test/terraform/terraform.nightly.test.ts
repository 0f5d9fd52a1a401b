/** The deployment by terraform's own tests, in terraform/tests: they plan it fifty times. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { inWorkspace } from './workspace.js';

describe('terraform test', function () {
  this.timeout(600_000);

  it('plans what its own tests want', async () => {
    await inWorkspace(async ({ folder, terraform }) => {
      const { exitCode, output } = await terraform(['test', '-no-color']);
      expect(exitCode, output).to.equal(0);
      expect(output).to.match(/Success! \d+ passed, 0 failed\./);
      const files = readdirSync(join(folder, 'tests')).filter((file) => file.endsWith('.tftest.hcl'));
      for (const file of files) expect(output).to.include(`tests/${file}... pass`);
    });
  });
});
