/** The cloud half by itself: who only looks at what stands for Google needs no functions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { envFileOf, startLocal } from '../support/halves.js';

describe('npm run local -- --only cloud', function () {
  this.timeout(120_000);

  it('writes the env file that it was asked for, without an endpoint of plinth', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-cloud-half-'));
    const envFile = join(folder, 'env');
    const run = startLocal(
      ['--only', 'cloud', '--store', 'emulator', '--machines', 'none', '--env-file', envFile],
      folder,
    );
    try {
      const env = await envFileOf(run, envFile);
      expect(env).to.include.keys('PLINTH_TOKEN', 'PLINTH_ISSUER', 'CLOUDSDK_AUTH_ACCESS_TOKEN');
      expect(env).not.to.have.property('PLINTH_ENDPOINT');
    } finally {
      run.child.kill('SIGINT');
      await run.ended;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
