/** What a person does to the secrets file with sops stays, run after run: recipients, rules, comments, and what was taken out. */
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect } from 'chai';
import { fieldSecret, type SecretsFile } from '../../shared/install-config/secrets.js';
import { encryptSops, type SopsTree } from '../../shared/install-config/sops.js';
import { bySops, bySopsIdentity, bySopsRecipient, otherRecipient } from './by-sops.js';
import { type DatacenterFiles, keysAtHand, type MadeBootstrap, makeBootstrap } from './made-bootstrap.js';
import { verifySops } from './sops-verifier.js';

const hour = 3_600_000;
const first = new Date('2026-03-04T05:06:07Z');
const laterBy = (hours: number) => new Date(first.getTime() + hours * hour);
const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
const recipientsIn = (text: string) =>
  [...text.matchAll(/recipient: (age1\w+)/g)].map(([, recipient]) => recipient).sort();

describe('a secrets file that a person edited with sops', () => {
  before(keysAtHand);
  let bootstrap: MadeBootstrap;
  let files: DatacenterFiles;
  const go = async (...changes: Parameters<MadeBootstrap['go']>): Promise<DatacenterFiles> => {
    const { dc1 } = await bootstrap.go(...changes);
    if (dc1 === undefined) throw new Error('no files');
    return dc1;
  };
  beforeEach(async () => {
    bootstrap = makeBootstrap();
    files = await go();
  });
  const write = async (secrets: SecretsFile['secrets'], now: Date, others: readonly string[] = []) => {
    const own = await identityToRecipient(await bootstrap.identity());
    return encryptSops({ version: 1, secrets } as SopsTree, [...others, own], { now, random });
  };

  it('keeps its second recipient, also when a later run writes it anew without being sent it', async () => {
    const colleague = await identityToRecipient(await generateX25519Identity());
    const own = await identityToRecipient(await bootstrap.identity());
    const secrets = await write(files.secrets.secrets, laterBy(1), [colleague]);
    const adopted = await go({ base: { dc1: { secrets } } });
    expect(recipientsIn(adopted.secretsText)).to.deep.equal([colleague, own].sort());
    const changed = await go({
      base: {},
      options: { vaultUri: 'https://v.example.com' },
      caller: { vaultPassword: 'pw' },
    });
    expect(changed.value('vaultPassword')).to.equal('pw');
    expect(recipientsIn(changed.secretsText)).to.deep.equal([colleague, own].sort());
    const { secretsText } = await go();
    expect(secretsText).to.equal(changed.secretsText);
  });

  it('keeps its comments, its rule and its recipients when secrets are added', async () => {
    const over = async (text: string) => {
      bootstrap = makeBootstrap();
      bootstrap.stored.set('age-identity', [bySopsIdentity]);
      bootstrap.files.set('secrets-dc1', text);
      return go();
    };
    const secrets = bySops('comments-and-two-recipients');
    const made = await over(secrets);
    expect(made.value('tokenPrivateKey')).to.be.a('string');
    expect(made.value('first')).to.equal('lovelace');
    const comments = secrets.match(/ENC\[[^\]]*type:comment\]/g) ?? [];
    expect(comments).to.have.length.above(5);
    for (const comment of comments) expect(made.secretsText).to.include(comment);
    expect(recipientsIn(made.secretsText)).to.deep.equal([bySopsRecipient, otherRecipient].sort());

    const byRule = await over(bySops('go-expression'));
    expect(byRule.secretsText).to.include('name: "tokenPrivateKey"').and.include('mac_only_encrypted: true');
    expect(byRule.secretsText).to.not.include('PRIVATE KEY');
    expect(byRule.value('tokenPrivateKey')).to.include('PRIVATE KEY');
  });

  it('stays without the secret that the person added and took out again', async () => {
    const mine = [...files.secrets.secrets, fieldSecret('mine', 'by hand')];
    const added = await write(mine, laterBy(1));
    expect((await go({ base: { dc1: { secrets: added } }, now: laterBy(2) })).value('mine')).to.equal('by hand');
    const removed = await write(files.secrets.secrets, laterBy(3));
    const without = await go({ base: { dc1: { secrets: removed } }, now: laterBy(4) });
    expect(without.value('mine')).to.equal(undefined);
    expect((await go({ base: {}, now: laterBy(5) })).value('mine')).to.equal(undefined);
  });

  it('takes nothing out as an older copy that never had it, nor what hosts wrote since', async () => {
    const mine = [...files.secrets.secrets, fieldSecret('mine', 'by hand'), fieldSecret('kubeConfig', 'of a host')];
    await go({ base: { dc1: { secrets: await write(mine, laterBy(1)) } }, now: laterBy(2) });
    const older = await go({ base: { dc1: { secrets: files.secretsText } } });
    expect(older.value('mine')).to.equal('by hand');
    const younger = await go({ base: { dc1: { secrets: await write(files.secrets.secrets, laterBy(3)) } } });
    expect([younger.value('mine'), younger.value('kubeConfig')]).to.deep.equal([undefined, 'of a host']);
  });

  it('may hold a value that begins with U+FEFF, run after run', async () => {
    const options = { vaultUri: 'https://v.example.com' };
    const made = await go({ options, caller: { vaultPassword: '\uFEFFpw' } });
    expect(made.value('vaultPassword')).to.equal('\uFEFFpw');
    expect((await verifySops(made.secretsText, await bootstrap.identity())).macMatches).to.equal(true);
    expect((await go()).secretsText).to.equal(made.secretsText);
  });
});
