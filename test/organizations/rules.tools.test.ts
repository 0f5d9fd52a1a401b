/** terraform/firestore.rules at work: Firestore's own door for browsers and phones stays shut. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { collections } from '../../shared/names.js';
import { type EmulatedStore, needFirestoreEmulator, openEmulatedStore } from '../support/emulators.js';
import { projectFolder } from '../support/recording-store.js';

const rules = readFileSync(join(projectFolder, 'terraform/firestore.rules'), 'utf8');

/** The emulator takes tokens of signed-in users unsigned. */
const userToken = (project: string): string => {
  const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [iat, sub] = [Math.floor(Date.now() / 1000), 'alice'];
  const claims = {
    iss: `https://securetoken.google.com/${project}`,
    aud: project,
    iat,
    exp: iat + 3600,
    sub,
    user_id: sub,
  };
  return `${encoded({ alg: 'none', type: 'JWT' })}.${encoded({ ...claims, email: 'alice@example.com' })}.`;
};

describe('the rules of Firestore for clients', () => {
  let host: string;
  let emulated: EmulatedStore;
  before(async function () {
    host = await needFirestoreEmulator(this);
    emulated = openEmulatedStore(host);
    await emulated.store.commit(
      Object.values(collections).map((collection) => ({
        kind: 'set',
        collection,
        id: 'one',
        data: { email: 'alice@example.com' },
      })),
    );
  });
  after(() => emulated?.store.close());

  const documents = (): string => `http://${host}/v1/projects/${emulated.project}/databases/(default)/documents`;
  const clients = (): Record<string, Record<string, string>> => ({
    nobody: {},
    'a signed-in user': { authorization: `Bearer ${userToken(emulated.project)}` },
  });

  async function statuses(): Promise<Record<string, number[]>> {
    const found: Record<string, number[]> = {};
    for (const [client, headers] of Object.entries(clients())) {
      const attempts = [...Object.values(collections), 'others/any/nested'].flatMap((collection) => [
        fetch(`${documents()}/${collection}/one`, { headers }),
        fetch(`${documents()}/${collection}`, { headers }),
        fetch(`${documents()}/${collection}?documentId=two`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ fields: {} }),
        }),
        fetch(`${documents()}/${collection}/two`, { method: 'PATCH', headers, body: JSON.stringify({ fields: {} }) }),
        fetch(`${documents()}/${collection}/two`, { method: 'DELETE', headers }),
      ]);
      found[client] = (await Promise.all(attempts)).map(({ status }) => status);
    }
    return found;
  }

  it('let nobody read or write anything', async () => {
    expect(Object.values(await statuses()).flat(), 'the emulator without rules').to.include(200);
    const loaded = await fetch(`http://${host}/emulator/v1/projects/${emulated.project}:securityRules`, {
      method: 'PUT',
      body: JSON.stringify({ rules: { files: [{ name: 'firestore.rules', content: rules }] } }),
    });
    expect(loaded.status, await loaded.text()).to.equal(200);
    for (const [client, each] of Object.entries(await statuses())) {
      expect([...new Set(each)], client).to.deep.equal([403]);
    }
    // The functions are none of its business.
    expect(await emulated.store.get(collections.bootstraps, 'one')).not.to.equal(undefined);
  });
});
