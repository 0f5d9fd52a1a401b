/** What a VM knows of itself by the metadata server, and that its account's token is that account, no more. Held by both tiers. */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { outsideNames } from '../../local/machines/network/outside-names.js';
import { project } from '../local-cloud/ready-cloud.js';
import { makeSkopeo } from '../support/skopeo.js';
import { firstNodeAccount, type MachineWorld } from './machine-world.js';

export function itKnowsItself(worldOf: () => MachineWorld): void {
  const on = async (login: string, command: string, stdin?: Buffer): Promise<string> => {
    const { code, stdout, stderr } = await worldOf().ssh(login, command, {
      timeoutSeconds: 60,
      ...(stdin === undefined ? {} : { stdin }),
    });
    expect(code, stderr).to.equal(0);
    return stdout.trim();
  };
  /** Of each URL beneath the server its status and what was said, by one login. */
  async function asked(login: string, paths: readonly string[], header = 'Metadata-Flavor: Google'): Promise<string[]> {
    const curl = `curl -s -m 20 -w ' %{http_code}\\n' -H '${header}'`;
    const text = await on(login, paths.map((path) => `${curl} 'http://${path}'`).join('; '));
    return text.split('\n').map((line) => line.replace(/^(.*) (\d+)$/, '$2 $1').replace(/^([45]\d\d) .*$/, '$1'));
  }
  const named = 'metadata.google.internal/computeMetadata/v1';
  const account = `${named}/instance/service-accounts`;

  it('asks the metadata server what it is, by name and by address, with the header alone', async () => {
    const attributes = `${named}/instance/attributes`;
    const paths = [
      `${named}/instance/name`,
      '169.254.169.254/computeMetadata/v1/project/project-id',
      `${attributes}/enable-guest-attributes`,
      `${attributes}/unknown`,
    ];
    expect(await asked('root@node-1', paths)).to.deep.equal(['200 node-1', `200 ${project}`, '200 TRUE', '404']);
    const nic = `${named}/instance/network-interfaces/0`;
    const [ip, network] = await asked('root@node-1', [`${nic}/ip`, `${nic}/network`]);
    expect(ip).to.equal(`200 ${(await worldOf().address('node-1')).internal}`);
    expect(network).to.match(/^200 projects\/\d+\/networks\/net$/);
    expect(await asked('ubuntu@jumpbox', paths.slice(0, 1))).to.deep.equal(['200 jumpbox']);
    expect(await asked('root@node-1', paths.slice(0, 2), 'Accept: text/plain')).to.deep.equal(['403', '403']);
  });

  it('gets tokens of the account that it carries, and none where it carries none', async () => {
    const other = `someone@${project}.iam.gserviceaccount.com`;
    const paths = ['default', firstNodeAccount, other].flatMap((one) => [
      `${account}/${one}/email`,
      `${account}/${one}/token`,
    ]);
    const [email, token, again] = await asked('root@node-1', paths.slice(0, 3));
    expect([email, again]).to.deep.equal([`200 ${firstNodeAccount}`, `200 ${firstNodeAccount}`]);
    const { access_token: text } = JSON.parse(token?.slice('200 '.length) ?? '') as { access_token: string };
    expect(worldOf().cloud.identity.callerOf(text)).to.include({ email: firstNodeAccount });
    expect(await asked('root@node-1', paths.slice(4))).to.deep.equal(['404', '404']);
    expect(await asked('root@node-2', paths)).to.deep.equal(paths.map(() => '404'));
  });

  it('does with its token what the account may, and pushes images with it', async () => {
    const { cloud } = worldOf();
    const repositories = '/v1/projects/P/locations/europe-west4/repositories';
    const call = async (line: string, body: object): Promise<void> => {
      const reply = await cloud.call('artifactregistry', line, body);
      expect(reply.status, reply.message).to.equal(200);
    };
    await call(`POST ${repositories}?repositoryId=images`, { format: 'DOCKER' });
    const skopeo = makeSkopeo();
    try {
      const digest = await skopeo.image('api', '1.0');
      await on('root@node-1', 'apt-get -y -qq install skopeo');
      await on('root@node-1', 'mkdir -p /root/images && tar -x -C /root/images', pack(skopeo.folder));
      const host = `${outsideNames.artifactRegistry}:${new URL(`http://${cloud.imagesHost}`).port}`;
      const push = [
        'set -e',
        'token=$(curl -sf -m 20 -H \'Metadata-Flavor: Google\' http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token | sed \'s/.*"access_token":"\\([^"]*\\)".*/\\1/\')',
        `printf '{"auths":{"${host}":{"auth":"%s"}}}' "$(printf 'oauth2accesstoken:%s' "$token" | base64 -w 0)" > /root/auth.json`,
        `skopeo copy --dest-tls-verify=false --dest-authfile=/root/auth.json oci:/root/images/api:1.0 docker://${host}/${project}/images/sample/api:1.0 2>&1`,
      ].join('\n');
      const refused = await worldOf().ssh('root@node-1', push, { timeoutSeconds: 60 });
      expect(refused.code).to.not.equal(0);
      expect(refused.stdout).to.match(/403 \(Forbidden\)|denied/);
      const binding = { role: 'roles/artifactregistry.writer', members: [`serviceAccount:${firstNodeAccount}`] };
      await call(`POST ${repositories}/images:setIamPolicy`, { policy: { bindings: [binding] } });
      await on('root@node-1', push);
      const url = `http://${cloud.imagesHost}/v2/${project}/images/sample/api/manifests/1.0`;
      const headers = { authorization: `Bearer ${cloud.identity.accessToken(firstNodeAccount)}` };
      expect((await fetch(url, { method: 'HEAD', headers })).headers.get('docker-content-digest')).to.equal(digest);
    } finally {
      skopeo.remove();
    }
  });
}

const pack = (folder: string): Buffer => execFileSync('tar', ['-c', '-C', folder, 'api']);
