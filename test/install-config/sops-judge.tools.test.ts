/** The real sops as judge, both ways: it opens what is written here, and what it then does to the file is read and kept here. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import {
  decryptSecrets,
  encryptSecrets,
  fieldSecret,
  fileSecret,
  type SecretsFile,
} from '../../shared/install-config/secrets.js';
import { sopsForm, sopsRecipients } from '../../shared/install-config/sops-block.js';
import {
  bySops,
  bySopsIdentity,
  bySopsRecipient,
  inBySops,
  inClearValues,
  inLargeNumbers,
  otherIdentity,
  otherRecipient,
} from './by-sops.js';

const means = {
  now: new Date('2026-03-04T05:06:07.891Z'),
  random: (bytes: number) => new Uint8Array(randomBytes(bytes)),
};
const odd = [
  '\uFEFF',
  '\u2028',
  '\u2029 a',
  'a\u2028  b',
  ' ',
  '<<',
  '=',
  'yes',
  '012',
  '1_0',
  '~',
  'a: b',
  'a #b',
  '\t',
  '#',
];
const wanted: SecretsFile = {
  version: 1,
  secrets: [
    ...odd.map((value, place) => fieldSecret(`odd-${place}`, value, `${value}x`)),
    fileSecret('key', 'key.pem', '-----BEGIN X-----\nabc\n-----END X-----\n'),
  ],
};

describe('the real sops', () => {
  let folder: string;
  let file: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'sops-'));
    file = join(folder, 'prod.vault.yaml');
  });
  after(() => rmSync(folder, { recursive: true }));

  const sops = (args: readonly string[], { key = bySopsIdentity, editor = 'false' } = {}): string =>
    execFileSync('sops', args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: folder, SOPS_AGE_KEY: key, SOPS_EDITOR: editor },
    });
  const put = (text: string) => writeFileSync(file, text);
  const held = () => decryptSecrets(readFileSync(file, 'utf8'), bySopsIdentity);
  const shown = (key?: string) => sops(['decrypt', file], { ...(key !== undefined && { key }) });
  const written = () => encryptSecrets(wanted, bySopsRecipient, means);
  const over = (text: string, content: SecretsFile) =>
    encryptSecrets(content, bySopsRecipient, means, { text, identity: bySopsIdentity });
  /** As a person does it: sops opens an editor on the plain text. */
  const edit = (script: string) => {
    const editor = join(folder, 'editor');
    writeFileSync(editor, `#!/bin/sh\nsed -i "${script}" "$1"\n`);
    chmodSync(editor, 0o700);
    sops(['edit', file], { editor });
  };

  it('opens what is written here', async () => {
    put(await written());
    expect(parse(sops(['decrypt', '--output-type=json', file]))).to.deep.equal(wanted);
  });

  it('edits it, comments in the list included', async () => {
    put(await written());
    edit('s/abc/changed/; s/^\\( *\\)- name: key$/\\1# rotated in May\\n&/');
    const { secrets } = await held();
    expect(secrets).to.have.lengthOf(wanted.secrets.length);
    expect(secrets.at(-1)?.file?.content).to.include('changed');
    expect(shown()).to.match(/# rotated in May\n *- name: key/);
  });

  it('rotates it and adds a recipient, and both stay in what is written over it', async () => {
    put(await written());
    sops(['rotate', '--in-place', '--add-age', otherRecipient, file]);
    expect(await held()).to.deep.equal(wanted);
    const changed = { ...wanted, secrets: [...wanted.secrets.slice(1), fieldSecret('new', '\uFEFFx')] };
    put(await over(readFileSync(file, 'utf8'), changed));
    expect(sopsRecipients(readFileSync(file, 'utf8'))).to.deep.equal([bySopsRecipient, otherRecipient]);
    for (const key of [bySopsIdentity, otherIdentity]) {
      expect(parse(sops(['decrypt', '--output-type=json', file], { key }))).to.deep.equal(changed);
    }
  });

  const contents: Readonly<Record<string, SecretsFile>> = {
    'comments-and-two-recipients': inBySops,
    suffix: inBySops,
    'go-expression': inBySops,
    'clear-values': inClearValues,
    'clear-large-numbers': inLargeNumbers,
  };
  for (const [name, content] of Object.entries(contents)) {
    it(`opens what is written over ${name}, whose form stays`, async () => {
      const before = bySops(name);
      const [first, ...others] = content.secrets;
      const changed: SecretsFile = {
        version: 1,
        secrets: [...others, ...wanted.secrets, { ...first, name: 'renamed' }],
      };
      put(await over(before, changed));
      expect(sopsForm(readFileSync(file, 'utf8'))).to.equal(sopsForm(before));
      expect(parse(sops(['decrypt', '--output-type=json', file]))).to.deep.equal(changed);
      expect(await held()).to.deep.equal(changed);
    });
  }

  it('shows the comments of what stays', async () => {
    const [first, second, third] = inBySops.secrets;
    if (first === undefined || second === undefined || third === undefined) throw new Error('they are gone');
    put(
      await over(bySops('comments-and-two-recipients'), {
        version: 1,
        secrets: [first, third, fieldSecret('new', 'x')],
      }),
    );
    const text = shown();
    for (const kept of [
      /# of the team\nversion/,
      /# all of them\nsecrets/,
      /# rotated in May\n *- name: first/,
      /# a pair\n *fields/,
    ]) {
      expect(text).to.match(kept);
    }
    expect(text)
      .to.include('# inline')
      .and.include('# the last word')
      .and.not.include('two files')
      .and.not.include('ENC[');
  });

  it('refuses what is refused here', async () => {
    const text = await written();
    const [, one = ''] = /name: (ENC.*)/.exec(text) ?? [];
    for (const tampered of [
      text.replace(/password: ENC.*/, `password: ${one}`),
      text.replace(/ *- name: (.*\n)+? *- name/, '    - name'),
    ]) {
      put(tampered);
      expect(() => shown()).to.throw();
      expect(await held().catch((error: Error) => error.message)).to.match(/tampered with|MAC does not match/);
    }
  });
});
