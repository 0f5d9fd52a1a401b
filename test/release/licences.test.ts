/** `npm run check` holds the licences of all that is needed at run time. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { projectFolder } from '../support/recording-store.js';

const program = fileURLToPath(new URL('../../tools/check-licences.js', import.meta.url));
const check = (folder: string) => spawnSync(process.execPath, [program, folder], { encoding: 'utf8' });

describe('the check of licences', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-licences-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** An installation of these packages beside one that may be handed on. */
  const installed = (others: Readonly<Record<string, Case>>): string => {
    const packages: Record<string, object> = { '': {}, 'node_modules/good': {} };
    const put = (path: string, manifest: object) => {
      mkdirSync(join(folder, path), { recursive: true });
      writeFileSync(join(folder, path, 'package.json'), JSON.stringify(manifest));
    };
    put('node_modules/good', { license: 'MIT' });
    for (const [name, { manifest, locked = {} }] of Object.entries(others)) {
      packages[`node_modules/${name}`] = locked;
      put(`node_modules/${name}`, manifest);
    }
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
    return folder;
  };

  it('passes for what this project needs', () => {
    const { status, stderr } = check(projectFolder);
    expect(status, stderr).to.equal(0);
  });

  interface Case {
    readonly manifest: object;
    readonly locked?: object;
  }
  const passes: Readonly<Record<string, Case>> = {
    'a-choice-of-which-one-will-do': { manifest: { license: '(GPL-2.0 OR ISC)' } },
    'the-old-form': { manifest: { licenses: [{ type: 'MIT' }] } },
    'what-only-development-needs': { manifest: { license: 'GPL-3.0-only' }, locked: { dev: true } },
  };
  const fails: Readonly<Record<string, Case & { readonly said: string }>> = {
    copyleft: { manifest: { license: 'GPL-3.0-or-later' }, said: 'GPL-3.0-or-later' },
    'copyleft-for-files': { manifest: { license: 'MPL-2.0' }, said: 'MPL-2.0' },
    'unknown-licence': { manifest: { license: 'Acme-1.0' }, said: 'Acme-1.0' },
    'licence-by-a-file': { manifest: { license: 'SEE LICENSE IN terms.txt' }, said: 'SEE LICENSE IN terms.txt' },
    'no-licence': { manifest: {}, said: 'no licence is told' },
    'a-choice-of-which-none-will-do': { manifest: { license: '(GPL-2.0 OR LGPL-3.0)' }, said: '(GPL-2.0 OR LGPL-3.0)' },
    'two-at-once-of-which-one-will-not-do': { manifest: { license: 'MIT AND GPL-2.0' }, said: 'MIT AND GPL-2.0' },
  };

  it('passes with a choice of which one will do, with the old form, and with what only development needs', () => {
    expect(check(installed(passes))).to.include({ status: 0, stderr: '' });
  });

  it('fails with copyleft, an unknown licence or none, and names each package with what it says', () => {
    const { status, stderr } = check(installed({ ...passes, ...fails }));
    expect(status, stderr).to.equal(1);
    const told = Object.entries(fails).map(([name, { said }]) => `node_modules/${name}: ${said}`);
    expect(stderr.trim().split('\n  ').slice(1)).to.have.members(told);
  });
});
