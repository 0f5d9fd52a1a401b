import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { armor, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect } from 'chai';
import { decryptSops as decryptWithSopsAge } from 'sops-age';
import { parse, stringify } from 'yaml';
import { decryptSops, encryptSops, type SopsTree, sopsRecipients } from '../../shared/install-config/sops.js';
import { Problem } from '../../shared/problems.js';
import { verifySops } from './sops-verifier.js';

const now = new Date('2026-03-04T05:06:07.891Z');
const random = (bytes: number) => new Uint8Array(randomBytes(bytes));

/** Every kind of leaf, lists in lists, keys that objects would reorder, text that YAML could misread. */
const tree = {
  version: 1,
  secrets: [
    { name: 'key', file: { name: 'key.pem', content: '-----BEGIN X-----\nabc\n-----END X-----\n' } },
    { name: 'password', fields: { username: 'ada', password: 'p: [#] ü 日本 ' } },
    { name: 'empty', fields: { password: '' } },
  ],
  numbers: { float: 1.5, small: 0.000001, smaller: -1.25e-9, large: 1.5e22, zero: 0, minus: -3 },
  flags: [true, false],
  texts: ['true', '1', 'null', '~', '0x10', '2026-01-01T00:00:00Z', ' '],
  nothing: null,
} satisfies SopsTree;

describe('the SOPS form', () => {
  let identity: string;
  let recipient: string;
  let text: string;

  before(async () => {
    identity = await generateX25519Identity();
    recipient = await identityToRecipient(identity);
    text = await encryptSops(tree, [recipient], { now, random });
  });

  const refusal = async (content: string, as = identity): Promise<string> => {
    try {
      await decryptSops(content, as);
    } catch (error) {
      expect(error).to.be.instanceOf(Problem);
      expect((error as Problem).code).to.equal('bad-input');
      return (error as Problem).detail;
    }
    throw new Error('it was read');
  };
  /** The file with one value of its tree changed, as an editor that is not sops would. */
  const changed = (change: (file: never) => void): string => {
    const file: unknown = parse(text);
    change(file as never);
    return stringify(file, { lineWidth: 0 });
  };

  it('gives back what was written', async () => {
    expect(await decryptSops(text, identity)).to.deep.equal(tree);
  });

  it('holds no plaintext but keys', () => {
    // What is encrypted is base64, and so are keys: a short word may come up there by chance.
    const open = text.slice(0, text.indexOf('\nsops:')).replace(/ENC\[[^\]]*\]/g, '');
    expect(open).to.have.length.above(20);
    for (const value of ['abc', 'ada', '日本', 'key.pem']) expect(open).not.to.include(value);
    expect(text).to.include('username');
    expect(sopsRecipients(text)).to.deep.equal([recipient]);
  });

  it('satisfies an independent reader, the MAC too', async () => {
    const { leaves, macMatches } = await verifySops(text, identity);
    expect(macMatches).to.equal(true);
    expect(leaves.slice(0, 4)).to.deep.equal([
      ['version', '1', 'int'],
      ['secrets:name', 'key', 'str'],
      ['secrets:file:name', 'key.pem', 'str'],
      ['secrets:file:content', tree.secrets[0]?.file?.content, 'str'],
    ]);
    const of = (path: string) => leaves.filter(([at]) => at === path).map(([, plaintext, type]) => [plaintext, type]);
    expect(of('flags')).to.deep.equal([
      ['True', 'bool'],
      ['False', 'bool'],
    ]);
    expect(of('numbers:smaller')).to.deep.equal([['-0.00000000125', 'float']]);
    expect(of('numbers:large')).to.deep.equal([['15000000000000000000000', 'int']]);
    expect(of('numbers:small')).to.deep.equal([['0.000001', 'float']]);
  });

  it('is opened by sops-age', async () => {
    const { nothing: _, ...rest } = tree;
    const opened = (await decryptWithSopsAge(text, { secretKey: identity, fileType: 'yaml' })) as Record<
      string,
      unknown
    >;
    expect(opened['secrets']).to.deep.equal(rest.secrets);
    expect(opened['version']).to.equal(1);
    expect(opened['texts']).to.deep.equal(rest.texts);
  });

  it('differs each time it is written', async () => {
    const again = await encryptSops(tree, [recipient], { now, random });
    expect(again).not.to.equal(text);
    expect(await decryptSops(again, identity)).to.deep.equal(tree);
  });

  describe('says that a file was tampered with', () => {
    const cases: Record<string, [change: (file: never) => void, words: string]> = {
      'a value replaced by one from elsewhere in the file': [
        (file: { secrets: { name: string; fields?: { password: string } }[] }) => {
          const entry = file.secrets[1];
          if (entry?.fields !== undefined) entry.name = entry.fields.password;
        },
        'secrets.name was tampered with',
      ],
      'two values of a list that changed places': [(file: { flags: unknown[] }) => void file.flags.reverse(), 'MAC'],
      'a list item that is gone': [(file: { texts: unknown[] }) => void file.texts.pop(), 'MAC'],
      'a list item that stands twice': [(file: { texts: unknown[] }) => void file.texts.push(file.texts[0]), 'MAC'],
      'a value emptied': [(file: { numbers: { float: unknown } }) => (file.numbers.float = ''), 'MAC'],
      'a plain value in the place of an encrypted one': [
        (file: { version: unknown }) => (file.version = 1),
        'version should be encrypted',
      ],
      'another time of modification': [
        (file: { sops: { lastmodified: string } }) => (file.sops.lastmodified = '2020-01-01T00:00:00Z'),
        'sops.mac was tampered with',
      ],
      'no MAC': [(file: { sops: { mac?: string } }) => delete file.sops.mac, 'cut short: its `sops` block has no mac'],
      'an empty MAC': [(file: { sops: { mac: string } }) => (file.sops.mac = ''), 'MAC'],
    };
    for (const [name, [change, words]] of Object.entries(cases)) {
      it(name, async () => {
        expect(await refusal(changed(change))).to.include(words);
      });
    }
  });

  it('says when it is for another identity, or no such file at all', async () => {
    expect(await refusal(text, await generateX25519Identity())).to.include("bootstrap's age identity");
    expect(await refusal('a: 1\n')).to.include('no `sops` block');
    expect(await refusal('- 1\n')).to.include('not a YAML map');
    expect(await refusal('a: "s3cret\n'))
      .to.match(/not YAML/)
      .and.not.to.include('s3cret');
  });

  it('reads what sops writes with more recipients, other rules and comments', async () => {
    const other = await identityToRecipient(await generateX25519Identity());
    const file = await asSopsWouldWrite(
      [other, recipient],
      'encrypted_regex: ^password$',
      (seal) => [
        '#ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:comment]',
        'version: 1',
        'on: true',
        'secrets:',
        '    - name: pin',
        '      fields:',
        `          password: ${seal('0123', 'secrets:fields:password:', 'str')}`,
      ],
      ['1', 'True', 'pin', '0123'],
    );
    expect(await decryptSops(file, identity)).to.deep.equal({
      version: 1,
      on: true,
      secrets: [{ name: 'pin', fields: { password: '0123' } }],
    });
    expect(await refusal(file.replace('name: pin', 'name: pan'))).to.include('MAC');
  });

  it('reads at once by a rule that takes other engines for ever', async () => {
    const name = `${'a'.repeat(50)}-`;
    const file = await asSopsWouldWrite([recipient], 'encrypted_regex: ^(a+)+$', () => [`${name}: 1`], ['1']);
    expect(await decryptSops(file, identity)).to.deep.equal({ [name]: 1 });
  });
});

/** A file put together by hand, with node:crypto, as sops puts it. */
async function asSopsWouldWrite(
  recipients: string[],
  rule: string,
  body: (seal: (plain: string, path: string, type: string) => string) => string[],
  leaves: string[],
): Promise<string> {
  const key = randomBytes(32);
  const seal = (plain: string, additional: string, type: string): string => {
    const iv = randomBytes(32);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(additional));
    const data = Buffer.concat([cipher.update(plain), cipher.final()]).toString('base64');
    return `ENC[AES256_GCM,data:${data},iv:${iv.toString('base64')},tag:${cipher.getAuthTag().toString('base64')},type:${type}]`;
  };
  const time = '2025-12-24T18:00:00Z';
  const mac = createHash('sha512').update(leaves.join('')).digest('hex').toUpperCase();
  const age: string[] = [];
  for (const recipient of recipients) {
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    const enc = armor
      .encode(await encrypter.encrypt(key))
      .trimEnd()
      .split('\n');
    age.push(`        - recipient: ${recipient}`, '          enc: |', ...enc.map((line) => `            ${line}`));
  }
  return [
    ...body(seal),
    'sops:',
    '    kms: []',
    '    age:',
    ...age,
    `    lastmodified: "${time}"`,
    `    mac: ${seal(mac, time, 'str')}`,
    `    ${rule}`,
    '    version: 3.9.4',
    '',
  ].join('\n');
}
