/** sops and age open, and refuse, the same files of age identities as plinth. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity } from 'age-encryption';
import { expect } from 'chai';
import { parse } from 'yaml';
import { identityFilesFor } from './identity-files.js';
import { secretsFor } from './service.js';

describe('files of age identities', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'identities-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('are read by sops and age as by plinth', async () => {
    const own = await generateX25519Identity();
    const sealed = await secretsFor(own, 'sealed');
    const [key, vault, encrypted] = [join(folder, 'key.txt'), join(folder, 'prod.vault.yaml'), join(folder, 'key.age')];
    writeFileSync(vault, sealed);
    const { sops } = parse(sealed) as { sops: { age: { enc: string }[] } };
    // No input: age may end before it reads it, and the pipe breaks.
    writeFileSync(encrypted, sops.age[0]?.enc ?? '');
    const run = (command: string, args: readonly string[]) =>
      spawnSync(command, args, {
        encoding: 'utf8',
        env: { ...process.env, HOME: folder, SOPS_AGE_KEY_FILE: key },
      });
    for (const { name, text, damaged } of await identityFilesFor(own)) {
      writeFileSync(key, text, { mode: 0o600 });
      for (const ran of [run('sops', ['decrypt', vault]), run('age', ['--decrypt', '--identity', key, encrypted])]) {
        expect(ran.error, name).to.equal(undefined);
        expect(ran.status === 0, `${name}: ${ran.stderr}`).to.equal(damaged === undefined);
      }
    }
  });
});
