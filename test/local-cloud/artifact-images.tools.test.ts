/** Images in Artifact Registry, pushed and pulled by skopeo, under the policies of their repository. */
import { join } from 'node:path';
import { expect } from 'chai';
import { makeSkopeo, type Skopeo } from '../support/skopeo.js';
import { owner, project, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';

const repositories = '/v1/projects/P/locations/europe-west4/repositories';
const accountOf = (id: string): string => `${id}@${project}.iam.gserviceaccount.com`;
const [writer, reader] = [accountOf('image-writer'), accountOf('image-reader')];

describe('images in the simulated Artifact Registry', function () {
  this.timeout(240_000);
  let cloud: ReadyCloud;
  let skopeo: Skopeo;
  let digest: string;

  const call = async (line: string, body?: object): Promise<void> => {
    const reply = await cloud.call('artifactregistry', line, body);
    expect(reply.status, reply.message).to.equal(200);
  };
  before(async () => {
    skopeo = makeSkopeo();
    digest = await skopeo.image('api', '1.0');
    cloud = await readyCloud();
    for (const accountId of ['image-writer', 'image-reader']) {
      const made = await cloud.call('iam', 'POST /v1/projects/P/serviceAccounts', { accountId });
      expect(made.status, made.message).to.equal(200);
    }
    await call(`POST ${repositories}?repositoryId=images`, { format: 'DOCKER' });
    const bindings = [
      { role: 'roles/artifactregistry.writer', members: [`serviceAccount:${writer}`] },
      { role: 'roles/artifactregistry.reader', members: [`serviceAccount:${reader}`] },
    ];
    await call(`POST ${repositories}/images:setIamPolicy`, { policy: { bindings } });
  });
  after(async () => {
    await cloud?.close();
    skopeo?.remove();
  });

  const image = (name = 'sample/api', repository = 'images'): string =>
    `${cloud.imagesHost}/${project}/${repository}/${name}`;
  const as = (email: string) => ({
    host: cloud.imagesHost,
    user: 'oauth2accesstoken',
    password: cloud.identity.accessToken(email),
  });
  const push = (email: string, to: string) =>
    skopeo.run(as(email), 'copy', '--dest-tls-verify=false', `oci:${join(skopeo.folder, 'api')}:1.0`, `docker://${to}`);
  /** One request beneath `/v2/`, with what it answers. */
  async function ask(line: string, authorization?: string): Promise<{ status: number; code: string; reply: Response }> {
    const [method = '', path = ''] = line.split(' ');
    const headers = authorization === undefined ? {} : { authorization };
    const reply = await fetch(`http://${cloud.imagesHost}/v2/${path}`, { method, headers });
    const body = (await reply.json().catch(() => ({}))) as { errors?: { code: string }[] };
    return { status: reply.status, code: body.errors?.[0]?.code ?? '', reply };
  }
  const bearer = (email: string): string => `Bearer ${cloud.identity.accessToken(email)}`;
  const manifest = (name = 'sample/api', repository = 'images') =>
    `${project}/${repository}/${name}/manifests/${digest}`;

  it('are pushed by who writes, and pulled by who reads, the same by digest', async () => {
    const pushed = await push(writer, `${image()}:1.0`);
    expect(pushed.code, pushed.stderr).to.equal(0);
    const copied = join(skopeo.folder, 'copied');
    const pulled = await skopeo.run(
      as(reader),
      ...['copy', '--src-tls-verify=false', `docker://${image()}@${digest}`, `oci:${copied}:1.0`],
    );
    expect(pulled.code, pulled.stderr).to.equal(0);
    const seen = await skopeo.run(undefined, 'inspect', '--format', '{{.Digest}}', `oci:${copied}:1.0`);
    expect(seen.stdout.trim()).to.equal(digest);
    const tags = await skopeo.run(as(reader), 'list-tags', '--tls-verify=false', `docker://${image()}`);
    expect(JSON.parse(tags.stdout)).to.deep.include({ Tags: ['1.0'] });
  });

  it('are not pushed by who only reads, and nobody else gets them', async () => {
    const refused = await push(reader, `${image('other')}:1.0`);
    expect(refused.code).to.not.equal(0);
    expect(refused.stderr).to.include('artifactregistry.repositories.uploadArtifacts');
    expect(await ask(`GET ${manifest()}`, bearer(stranger))).to.include({ status: 403, code: 'DENIED' });
    expect(await ask(`GET ${manifest()}`, bearer(reader))).to.include({ status: 200 });
  });

  it('say to who brings no token, or a wrong one, where to get one', async () => {
    for (const authorization of [undefined, 'Bearer ya29.wrong', `Basic ${btoa('me:secret')}`]) {
      const { status, code, reply } = await ask(`GET ${manifest()}`, authorization);
      expect([status, code]).to.deep.equal([401, 'UNAUTHORIZED']);
      expect(reply.headers.get('www-authenticate')).to.equal(
        `Bearer realm="http://${cloud.imagesHost}/v2/token",service="127.0.0.1",scope="repository:${project}/images/sample/api:pull"`,
      );
    }
    expect(await ask('GET ')).to.include({ status: 401 });
    expect(await ask('GET ', bearer(reader))).to.include({ status: 200 });
    expect(await ask('GET token')).to.include({ status: 401 });
    const basic = `Basic ${btoa(`oauth2accesstoken:${cloud.identity.accessToken(reader)}`)}`;
    expect(await ask(`GET ${manifest()}`, basic)).to.include({ status: 200 });
  });

  it('are unknown where there is no such repository, image or tag, to who may know', async () => {
    const all = await Promise.all([
      ask(`GET ${manifest('api', 'nowhere')}`, bearer(owner)),
      ask(`GET ${manifest('api', 'nowhere')}`, bearer(reader)),
      ask(`GET ${manifest('unknown')}`, bearer(reader)),
      ask(`GET ${project}/images/sample/api/manifests/2.0`, bearer(reader)),
      ask('GET no-such-project/images/api/manifests/1.0', bearer(owner)),
    ]);
    expect(all.map(({ status, code }) => `${status} ${code}`)).to.deep.equal([
      '404 NAME_UNKNOWN',
      '403 DENIED',
      '404 MANIFEST_UNKNOWN',
      '404 MANIFEST_UNKNOWN',
      '403 DENIED',
    ]);
  });

  it('are taken as a whole alone: with all that they name, and the digest that they are sent under', async () => {
    const authorization = bearer(writer);
    const put = async (name: string, reference: string, body: string) => {
      const url = `http://${cloud.imagesHost}/v2/${project}/images/${name}/manifests/${reference}`;
      const reply = await fetch(url, { method: 'PUT', headers: { authorization }, body });
      return ((await reply.json()) as { errors: { code: string }[] }).errors[0]?.code;
    };
    const blob = `sha256:${'0'.repeat(64)}`;
    const lacking = JSON.stringify({ schemaVersion: 2, config: { digest: blob }, layers: [] });
    expect(await put('part', 'latest', lacking)).to.equal('MANIFEST_BLOB_UNKNOWN');
    expect(await put('part', 'latest', 'not JSON')).to.equal('MANIFEST_INVALID');
    expect(await put('part', blob, lacking)).to.equal('DIGEST_INVALID');
    const begun = await ask(`POST ${project}/images/part/blobs/uploads/`, authorization);
    expect(begun.status).to.equal(202);
    const place = `http://${cloud.imagesHost}${begun.reply.headers.get('location')}?digest=${blob}`;
    const ended = await fetch(place, { method: 'PUT', headers: { authorization }, body: 'other bytes' });
    expect(ended.status).to.equal(400);
  });

  it('go with their repository', async () => {
    await call(`DELETE ${repositories}/images`);
    await call(`POST ${repositories}?repositoryId=images`, { format: 'DOCKER' });
    expect(await ask(`GET ${manifest()}`, bearer(owner))).to.include({ status: 404, code: 'MANIFEST_UNKNOWN' });
    expect(JSON.stringify(cloud.state())).to.not.include(digest);
  });
});
