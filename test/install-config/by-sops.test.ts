/** The way back: secrets files that sops wrote, read here. */
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect } from 'chai';
import { decryptSecrets, encryptSecrets, fieldSecret } from '../../shared/install-config/secrets.js';
import { Problem } from '../../shared/problems.js';
import { bySops, bySopsIdentity, inBySops, inClearValues, inLargeNumbers } from './by-sops.js';

describe('a secrets file that sops wrote', () => {
  const refusal = async (text: string): Promise<Problem> => {
    const error = await decryptSecrets(text, bySopsIdentity).catch((thrown: unknown) => thrown);
    if (!(error instanceof Problem)) throw new Error(`it was read, or failed otherwise: ${String(error)}`);
    return error;
  };

  it('is read with comments in maps and lists, two recipients, and a value that begins with U+FEFF', async () => {
    expect(await decryptSecrets(bySops('comments-and-two-recipients'), bySopsIdentity)).to.deep.equal(inBySops);
  });

  it('is read by the suffix that it names', async () => {
    expect(await decryptSecrets(bySops('suffix'), bySopsIdentity)).to.deep.equal(inBySops);
  });

  it('is read by an expression that only Go knows, with a MAC over encrypted values alone', async () => {
    expect(await decryptSecrets(bySops('go-expression'), bySopsIdentity)).to.deep.equal(inBySops);
  });

  it('is read with values in clear that YAML 1.1 and 1.2 take for different things', async () => {
    expect(await decryptSecrets(bySops('clear-values'), bySopsIdentity)).to.deep.equal(inClearValues);
  });

  it('is read with numbers in clear that are too large for Go, which takes them for texts', async () => {
    expect(await decryptSecrets(bySops('clear-large-numbers'), bySopsIdentity)).to.deep.equal(inLargeNumbers);
  });

  it('is refused with the name of each secret that has another form, and no value', async () => {
    const { detail, errors } = await refusal(bySops('unquoted'));
    expect(errors).to.deep.equal([
      { path: 'postgresPassword.fields.password', message: 'must be text: put it in quotes' },
      { path: 'secret 2.name', message: 'must be text: put it in quotes' },
      { path: 'secret 2.fields', message: 'has what it may not have: token' },
      { path: 'secret 3.name', message: 'is missing' },
      { path: 'secret 3.fields.password', message: 'must be text: put it in quotes' },
    ]);
    expect(detail)
      .to.include('postgresPassword.fields.password must be text')
      .and.not.match(/planted|123456/);
  });

  it('is refused with what its own rule leaves in clear where one of that was changed', async () => {
    const changed = await refusal(bySops('clear-large-numbers').replace('1e400', '1e401'));
    expect(changed.detail).to.include('by other means than sops');
    expect(changed.advice).to.include('encrypted_regex').and.include('in clear').and.include('sops edit');
  });

  it('is refused by name, with the way out, where plinth cannot read it', async () => {
    const groups = await refusal(bySops('key-groups'));
    expect(groups.detail).to.include('key groups');
    expect(groups.advice).to.include('sops encrypt --age');
    const byComments = await refusal(bySops('comment-rule'));
    expect(byComments.detail).to.include('encrypted_comment_regex');
    expect(byComments.advice).to.include('without that rule');
    const leavesClear = await refusal(bySops('encrypted-suffix'));
    expect(leavesClear.detail).to.include('encrypted_suffix').and.include('secrets.file.content in clear');
    const expression = await refusal(bySops('go-expression').replace(/encrypted_regex: .*/, 'encrypted_regex: (?=a)'));
    expect(expression.detail).to.include('encrypted_regex').and.include('regular expression');
  });

  it('is refused for what it is where its rule leaves texts of several lines in clear', async () => {
    const separator = await refusal(bySops('clear-line-separator'));
    expect(separator.detail).to.include('U+2028').and.include('in clear').and.not.include('cut short');
    expect(separator.advice).to.include('without that rule');
    // Of this one sops itself says that the MAC does not match: it wrote null in its place.
    const tab = await refusal(bySops('clear-tab'));
    expect(tab.detail).to.include('encrypted_regex').and.include('in clear').and.include('sops itself');
    expect(tab.advice).to.include('without that rule');
    const changed = await refusal(bySops('clear-values').replace('1_000', '1_001'));
    expect(changed.detail).to.include('by other means than sops');
  });

  it('is refused with what befell it: decrypted in place, cut short, encrypted for others alone', async () => {
    const whole = bySops('comments-and-two-recipients');
    const plain = await refusal('version: 1\nsecrets:\n  - name: a\n    fields:\n      password: planted\n');
    expect(plain.detail).to.include('not encrypted').and.not.include('planted');
    expect(plain.advice).to.include('sops encrypt --in-place --age');
    const ends = [/^sops:\n/m, /^ {4}age:\n/m, /^ {8}- enc/m, /^ {4}lastmodified/m, /^ {4}mac/m];
    for (const end of ends) {
      expect((await refusal(whole.slice(0, whole.search(end)))).detail, String(end)).to.match(/cut short/);
    }
    const others = bySops('comments-and-two-recipients').replace(
      / {8}- enc: \|\n( {12}.*\n)+ {10}recipient: age1h3.*\n/,
      '',
    );
    const foreign = await refusal(others);
    expect(foreign.detail).to.include('age identity');
    expect(foreign.advice).to.include('sops rotate --in-place --add-age age1h3');
  });
});

describe('a secret that begins with U+FEFF', () => {
  it('is read as it was written', async () => {
    const identity = await generateX25519Identity();
    const file = { version: 1 as const, secrets: [fieldSecret('a', '\uFEFFb')] };
    const means = { now: new Date(), random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)) };
    const text = await encryptSecrets(file, await identityToRecipient(identity), means);
    expect(await decryptSecrets(text, identity)).to.deep.equal(file);
  });
});
