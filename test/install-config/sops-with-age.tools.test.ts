/** The SOPS form, opened by the age command. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect } from 'chai';
import { parse } from 'yaml';
import { encryptSops } from '../../shared/install-config/sops.js';

describe('the SOPS form', () => {
  it('has a data key that the age command opens', async () => {
    const identity = await generateX25519Identity();
    const recipient = await identityToRecipient(identity);
    const text = await encryptSops({ version: 1, secrets: [] }, [recipient], {
      now: new Date('2026-03-04T05:06:07.891Z'),
      random: (bytes) => new Uint8Array(randomBytes(bytes)),
    });
    const folder = mkdtempSync(join(tmpdir(), 'age-'));
    try {
      const key = join(folder, 'key.txt');
      writeFileSync(key, `${identity}\n`, { mode: 0o600 });
      const enc = (parse(text) as { sops: { age: { enc: string }[] } }).sops.age[0]?.enc ?? '';
      const dataKey = execFileSync('age', ['--decrypt', '--identity', key], { input: enc });
      expect(dataKey).to.have.length(32);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
