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

  /** An installation of one package beside one that may be handed on. */
  const installed = (manifest: object, locked: object = {}): string => {
    const packages: Record<string, object> = { '': {}, 'node_modules/good': {}, 'node_modules/other': locked };
    for (const [path, content] of [
      ['node_modules/good', { license: 'MIT' }],
      ['node_modules/other', manifest],
    ] as const) {
      mkdirSync(join(folder, path), { recursive: true });
      writeFileSync(join(folder, path, 'package.json'), JSON.stringify(content));
    }
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
    return folder;
  };

  it('passes for what this project needs', () => {
    const { status, stderr } = check(projectFolder);
    expect(status, stderr).to.equal(0);
  });

  const cases: readonly (readonly [title: string, manifest: object, locked: object, said: string | undefined])[] = [
    ['a copyleft licence', { license: 'GPL-3.0-or-later' }, {}, 'node_modules/other: GPL-3.0-or-later'],
    ['a copyleft licence for files', { license: 'MPL-2.0' }, {}, 'node_modules/other: MPL-2.0'],
    ['a licence that nobody knows', { license: 'Acme-1.0' }, {}, 'node_modules/other: Acme-1.0'],
    ['a licence by a file of its own', { license: 'SEE LICENSE IN terms.txt' }, {}, 'SEE LICENSE IN terms.txt'],
    ['no licence', {}, {}, 'node_modules/other: no licence is told'],
    ['a choice of which one will do', { license: '(GPL-2.0 OR ISC)' }, {}, undefined],
    ['a choice of which none will do', { license: '(GPL-2.0 OR LGPL-3.0)' }, {}, '(GPL-2.0 OR LGPL-3.0)'],
    ['two at once of which one will not do', { license: 'MIT AND GPL-2.0' }, {}, 'MIT AND GPL-2.0'],
    ['the old form', { licenses: [{ type: 'MIT' }] }, {}, undefined],
    ['what only development needs', { license: 'GPL-3.0-only' }, { dev: true }, undefined],
  ];
  for (const [title, manifest, locked, said] of cases) {
    it(`${said === undefined ? 'passes' : 'fails'} with ${title}`, () => {
      const { status, stderr } = check(installed(manifest, locked));
      expect(status, stderr).to.equal(said === undefined ? 0 : 1);
      if (said === undefined) expect(stderr).to.equal('');
      else expect(stderr).to.include(said).and.not.include('good');
    });
  }
});
