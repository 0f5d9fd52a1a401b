import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Cloud, createCloud } from '../../functions/cloud/index.js';
import { readConfig } from '../../functions/config.js';
import { choosePackage } from '../../functions/preflight/software/package-choice.js';
import { mustBear } from '../../functions/steps/install/package.js';
import { createSimulatedCloud, type SimulatedCloud } from '../../local/cloud/index.js';
import { createClock } from '../../local/functions/clock.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { environmentOf, initialState, local, people } from '../../local/stack/deployment.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { sha256 } from '../../shared/sha256.js';
import { makeOptions } from '../install-config/make-options.js';

/** The functions' own client and roles against the simulated Cloud Storage. */
describe('the package store', function () {
  this.timeout(240_000);
  let simulated: SimulatedCloud;
  let folder: string;
  let [older, newer]: [MadePackage | undefined, MadePackage | undefined] = [undefined, undefined];
  const hostBefore = process.env['GCE_METADATA_HOST'];
  const bucket = local.packagesBucket;

  const cloudOf = (name: FunctionName, endpoints = simulated.endpoints): Cloud => {
    const facts = { origin: 'http://127.0.0.1:1', issuerUrl: simulated.issuerUrl, forge1Url: 'http://127.0.0.1:1' };
    const config = readConfig(environmentOf(name, { ...facts, endpoints }));
    return createCloud({ config, clock: createClock(0) });
  };
  const made = () => older ?? expect.fail('no package');

  before(async () => {
    simulated = await createSimulatedCloud({ initial: initialState() });
    process.env['GCE_METADATA_HOST'] = simulated.metadataHost;
    process.env['METADATA_SERVER_DETECTION'] = 'assume-present';
    folder = mkdtempSync(join(tmpdir(), 'plinth-store-'));
    older = await makePackage(join(folder, 'a'));
    newer = await makePackage(join(folder, 'b'), '1.1.0');
    await publishPackage(simulated, older);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await publishPackage(simulated, newer);
  });
  after(async () => {
    if (hostBefore === undefined) delete process.env['GCE_METADATA_HOST'];
    else process.env['GCE_METADATA_HOST'] = hostBefore;
    rmSync(folder, { recursive: true, force: true });
    await simulated?.close();
  });

  it('lists builds, of all versions and of one, the newest first', async () => {
    const { storage } = cloudOf(functionNames.bootstraps);
    const all = await storage.builds(bucket);
    expect(all.map(({ version, hash }) => [version, hash])).to.deep.equal([
      ['1.1.0', newer?.hash],
      ['1.0.0', older?.hash],
    ]);
    expect(await storage.builds(bucket, '1.0.0')).to.have.length(1);
    expect(await storage.builds(bucket, '1.0')).to.deep.equal([]);
  });

  it('says how large an archive is and what its SHA-256 is', async () => {
    const { storage } = cloudOf(functionNames.bootstraps);
    const { version, hash, full, lite } = made();
    for (const [kind, { path, sha256: sum }] of [
      ['full', full],
      ['lite', lite],
    ] as const) {
      const found = await storage.archive(bucket, { version, hash }, kind);
      expect(found).to.deep.include({ sha256: sum, bytes: readFileSync(path).length });
    }
    expect(await storage.archive(bucket, { version, hash: 'none' }, 'full')).to.equal(undefined);
  });

  const choose = (options: object, config: object = {}) => {
    const facts = { origin: 'http://127.0.0.1:1', issuerUrl: simulated.issuerUrl, forge1Url: 'http://127.0.0.1:1' };
    const read = readConfig(environmentOf(functionNames.bootstraps, { ...facts, endpoints: simulated.endpoints }));
    return choosePackage(
      { config: { ...read, hosts: true, ...config }, cloud: cloudOf(functionNames.bootstraps) },
      makeOptions({ registryType: 'forge1', ...options }),
    ).catch((error: unknown) => error);
  };

  it('gives the newest build of a version, or the one of a hash, and the archive that the registry needs', async () => {
    const { version, hash, full, lite } = made();
    const means = { version, hash };
    expect(await choose({ installVersion: `v${version}` })).to.deep.include({
      ...means,
      archive: 'lite',
      sha256: lite.sha256,
    });
    expect(await choose({ installHash: hash })).to.deep.include(means);
    const isFull = { ...means, archive: 'full', sha256: full.sha256 };
    expect(await choose({ installHash: hash, registryType: 'artifact-registry' })).to.deep.include(isFull);
    const local = { installHash: hash, registryType: 'local-container' };
    expect(await choose(local)).to.deep.include({ ...means, archive: 'lite' });
    expect(await choose({ ...local, airgapped: true })).to.deep.include(isFull);
    expect(await choose({})).to.equal(undefined);
    expect(await choose({ installLocal: 'p.tar.gz', installHash: hash })).to.equal(undefined);
  });

  it('leaves what a package of the caller must bear to whoever reads it on the jumpbox', () => {
    const asked = { installHash: 'it is; "this"', installVersion: 'v1.2' };
    expect(mustBear(makeOptions({ ...asked, installLocal: 'p.tar.gz' }))).to.deep.equal([
      `--install-hash='it is; "this"'`,
      `--install-version='v1.2'`,
    ]);
    expect(mustBear(makeOptions({ installLocal: 'p.tar.gz' }))).to.deep.equal([]);
    expect(mustBear(makeOptions(asked))).to.deep.equal([]);
  });

  it('says what there is when a package is not, and which setting is missing', async () => {
    for (const [options, flag, advice] of [
      [{ installVersion: '9.9.9' }, '--install-version', `1.1.0 (${newer?.hash}), 1.0.0 (${older?.hash})`],
      [{ installHash: 'nothing' }, '--install-hash', `1.1.0 (${newer?.hash}), 1.0.0 (${older?.hash})`],
      [{ installVersion: '1.0.0', installHash: newer?.hash }, '--install-hash', `1.0.0 (${older?.hash})`],
    ] as const) {
      const problem = await choose(options);
      expect(problem).to.have.property('code', 'bad-input');
      expect(problem).to.have.nested.property('errors[0].path', flag);
      expect(problem).to.have.property('advice', `There are, the newest first: ${advice}.`);
    }
    const without = await choose({ installHash: newer?.hash }, { hosts: false });
    expect(without).to.have.nested.property('errors[0].path', '--install-hash');
    expect(without).to.have.property('advice').that.contains('PLINTH_HOSTS');
    const unset = await choose({ installVersion: '1.0.0' }, { packagesBucket: undefined });
    expect(unset).to.have.property('advice').that.contains('PLINTH_PACKAGES_BUCKET');
  });

  const signed = async (seconds = 60, now = new Date()): Promise<string> => {
    const { storage } = cloudOf(functionNames.runHostStep);
    const { version, hash } = made();
    const archive = await storage.archive(bucket, { version, hash }, 'full');
    return storage.signedUrl(archive ?? expect.fail('no archive'), seconds, now);
  };
  const fetched = async (url: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(url, { headers });
    return { status: reply.status, bytes: new Uint8Array(await reply.arrayBuffer()) };
  };
  const codeOf = ({ bytes }: { bytes: Uint8Array }) => /<Code>(\w+)</.exec(Buffer.from(bytes).toString('utf8'))?.[1];

  it('is fetched by a signed URL without any token, whole and in parts', async () => {
    const url = await signed();
    const whole = await fetched(url);
    expect([whole.status, sha256(whole.bytes)]).to.deep.equal([200, made().full.sha256]);
    const part = await fetched(url, { range: 'bytes=100-199' });
    expect([part.status, part.bytes.length]).to.deep.equal([206, 100]);
    expect(Buffer.from(part.bytes)).to.deep.equal(Buffer.from(whole.bytes.subarray(100, 200)));
  });

  it('refuses a URL that was changed, that is over, or whose signer may no longer read', async () => {
    const url = await signed();
    const wrong = await fetched(url.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')));
    expect([wrong.status, codeOf(wrong)]).to.deep.equal([403, 'SignatureDoesNotMatch']);
    const other = await fetched(url.replace('installer.tar.gz', 'installer-lite.tar.gz'));
    expect([other.status, codeOf(other)]).to.deep.equal([403, 'SignatureDoesNotMatch']);
    const longer = await fetched(url.replace('X-Goog-Expires=60', 'X-Goog-Expires=600'));
    expect(codeOf(longer)).to.equal('SignatureDoesNotMatch');
    const over = await fetched(await signed(60, new Date(Date.now() - 61_000)));
    expect([over.status, codeOf(over)]).to.deep.equal([400, 'ExpiredToken']);

    const resource = `projects/${local.project}/buckets/${bucket}`;
    const before = simulated.world.policies.get(resource, 3);
    simulated.world.policies.set(resource, { bindings: [] });
    try {
      const denied = await fetched(url);
      expect([denied.status, codeOf(denied)]).to.deep.equal([403, 'AccessDenied']);
    } finally {
      simulated.world.policies.set(resource, { bindings: before['bindings'] ?? [] });
    }
  });

  it('is signed for by the function that may, and by no other', async () => {
    const { version, hash } = made();
    const archive = { bucket, object: `packages/${version}/${hash}/installer.tar.gz` };
    const refused = await cloudOf(functionNames.bootstraps)
      .storage.signedUrl(archive, 60, new Date())
      .catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'cloud-permission');
    const listed = await cloudOf(functionNames.runCloudStep)
      .storage.builds(bucket)
      .catch((error: unknown) => error);
    expect(listed).to.have.property('code', 'cloud-permission');
  });

  const ask = async (line: string, body?: string, headers: Record<string, string> = {}) => {
    const [method = 'GET', path = ''] = line.split(' ');
    const token = simulated.identity.accessToken(people.admin);
    const reply = await fetch(`${simulated.endpoints.storage}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text };
  };
  const errorOf = (text: string) =>
    (JSON.parse(text) as { error: { errors: { reason: string }[] } }).error.errors[0]?.reason;

  it('takes simple and resumable uploads, and what a neighbour says of the SHA-256', async () => {
    const { storage } = cloudOf(functionNames.bootstraps);
    const name = encodeURIComponent('packages/2.0.0/abc/installer.tar.gz');
    const begun = await ask(`POST /resumable/upload/storage/v1/b/${bucket}/o?uploadType=resumable&name=${name}`, '{}');
    const session = new URL(begun.headers.get('location') ?? '');
    const at = `${session.pathname}${session.search}`;
    // All chunks but the last are whole multiples of 256 KiB.
    const chunk = 'hello wo'.repeat(32 * 1024);
    const [end, bytes] = [chunk.length - 1, chunk.length + 5];
    const first = await ask(`PUT ${at}`, chunk, { 'content-range': `bytes 0-${end}/${bytes}` });
    expect([first.status, first.headers.get('range')]).to.deep.equal([308, `bytes=0-${end}`]);
    const lost = `bytes ${end + 4}-${end + 7}/${end + 8}`;
    expect((await ask(`PUT ${at}`, 'lost', { 'content-range': lost })).status).to.equal(400);
    const asked = await ask(`PUT ${at}`, '', { 'content-range': `bytes */${bytes}` });
    expect(asked.headers.get('range')).to.equal(`bytes=0-${end}`);
    const last = `bytes ${end + 1}-${bytes - 1}/${bytes}`;
    expect((await ask(`PUT ${at}`, 'world', { 'content-range': last })).status).to.equal(200);
    expect((await ask(`GET /storage/v1/b/${bucket}/o/${name}?alt=media`)).text).to.equal(`${chunk}world`);

    const build = { version: '2.0.0', hash: 'abc' };
    const unsaid = await storage.archive(bucket, build, 'full').catch((error: unknown) => error);
    expect(unsaid)
      .to.have.property('message')
      .that.matches(/Nobody says what the SHA-256/);
    const sum = sha256(Buffer.from(`${chunk}world`));
    const beside = `POST /upload/storage/v1/b/${bucket}/o?uploadType=media&name=${name}.sha256`;
    expect((await ask(beside, `${sum}  installer.tar.gz\n`)).status).to.equal(200);
    expect(await storage.archive(bucket, build, 'full')).to.deep.include({ sha256: sum, bytes });
    for (const each of [name, `${name}.sha256`]) {
      expect((await ask(`DELETE /storage/v1/b/${bucket}/o/${each}`)).status).to.equal(204);
    }
  });

  it('refuses what Google refuses', async () => {
    const object = `/storage/v1/b/${bucket}/o`;
    // The organization's policies are asked first.
    const uniform = '"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}';
    const name = encodeURIComponent(`packages/1.0.0/${made().hash}/installer.tar.gz`);
    for (const [line, status, reason, body] of [
      ['GET /storage/v1/b/none', 404, 'notFound'],
      [`GET ${object}/none`, 404, 'notFound'],
      [`GET ${object}/none?alt=media`, 404, 'notFound'],
      [`POST ${object}`, 400, 'wrongUrlForUpload', '{"name":"x"}'],
      [`POST /upload${object}?uploadType=media&name=${name}&ifGenerationMatch=0`, 412, 'conditionNotMet', 'x'],
      [`POST /storage/v1/b?project=${local.project}`, 409, 'conflict', `{"name":"${bucket}",${uniform}}`],
      [`POST /storage/v1/b?project=${local.project}`, 400, 'invalid', `{"name":"No",${uniform}}`],
      [`DELETE /storage/v1/b/${bucket}`, 409, 'conflict'],
    ] as const) {
      const reply = await ask(line, body, body === undefined ? {} : { 'content-type': 'application/json' });
      expect([line, reply.status, errorOf(reply.text)]).to.deep.equal([line, status, reason]);
    }
  });

  it('is there through pages and folders, as gcloud asks', async () => {
    const list = `/storage/v1/b/${bucket}/o?delimiter=/&prefix=packages/&maxResults=1`;
    const one = JSON.parse((await ask(`GET ${list}`)).text) as { prefixes: string[]; nextPageToken: string };
    const two = JSON.parse((await ask(`GET ${list}&pageToken=${one.nextPageToken}`)).text) as { prefixes: string[] };
    expect([...one.prefixes, ...two.prefixes]).to.deep.equal(['packages/1.0.0/', 'packages/1.1.0/']);
  });
});
