/** ssh-agent is asked only where one listens. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { bootstrap, createSandbox, five, type Sandbox, testKey } from './run-cli.js';

describe('ssh-agent', () => {
  let sandbox: Sandbox;
  let env: Readonly<Record<string, string>>;
  beforeEach(() => {
    sandbox = createSandbox();
    rmSync(join(sandbox.home, '.ssh', 'id_rsa.pub'));
    // Stands for OpenSSH's program, and remembers that it ran.
    writeFileSync(sandbox.path('ssh-add'), `#!/bin/sh\necho ran >> "${sandbox.path('ran')}"\necho "${testKey}"\n`);
    chmodSync(sandbox.path('ssh-add'), 0o755);
    env = { PATH: `${sandbox.folder}:${sandbox.env['PATH']}`, PLINTH_ENDPOINT: 'http://127.0.0.1:9' };
  });
  afterEach(() => sandbox.remove());

  const dryRun = () => [...bootstrap, ...five, '--dry-run'];

  it('is asked for the key where one listens', async () => {
    await sandbox.run(dryRun(), { ...env, SSH_AUTH_SOCK: sandbox.path('agent') });
    expect(sandbox.has('ran')).to.equal(true);
  });

  it('is not asked where none listens', async () => {
    await sandbox.run(dryRun(), env);
    expect(sandbox.has('ran')).to.equal(false);
  });
});
