/** OS Login in the simulated cloud: whose keys, how long, how many, and whom a guest lets in. */
import { expect } from 'chai';
import { osLoginUser } from '../../local/cloud/os-login/guest.js';
import { owner, project, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { denied, invalid, itRefuses, refusalsOf } from './refusals.js';

const robot = `robot-1@${project}.iam.gserviceaccount.com`;
/** A public key is told from another by its text alone. */
const keyOf = (number: number): string =>
  `ssh-ed25519 ${Buffer.from(`key ${number}`.padEnd(51, '.')).toString('base64')} n${number}`;
const importing = (email: string, query = ''): string => `POST /v1/users/${email}:importSshPublicKey${query}`;
const inMicroseconds = (milliseconds: number): string => String(milliseconds * 1000);
const hour = 3_600_000;

interface Profile {
  readonly name: string;
  readonly posixAccounts?: readonly { readonly username: string; readonly accountId: string }[];
  readonly sshPublicKeys?: Readonly<Record<string, { readonly key: string; readonly expirationTimeUsec?: string }>>;
}

describe('simulated OS Login', () => {
  let cloud: ReadyCloud;
  beforeEach(async () => {
    cloud = await readyCloud();
    await cloud.call('iam', 'POST /v1/projects/P/serviceAccounts', { accountId: 'robot-1' });
  });
  afterEach(() => cloud.close());

  async function bring(email: string, body: object, query?: string): Promise<Profile> {
    const reply = await cloud.call('oslogin', importing(email, query), body, { as: email });
    expect(reply.status, reply.message).to.equal(200);
    return reply.body['loginProfile'] as unknown as Profile;
  }
  const profile = async (email: string): Promise<Profile> =>
    (await cloud.call('oslogin', `GET /v1/users/${email}/loginProfile?projectId=${project}`, undefined, { as: email }))
      .body as unknown as Profile;
  const keysOf = ({ sshPublicKeys = {} }: Profile): string[] => Object.values(sshPublicKeys).map(({ key }) => key);

  async function give(role: string, member: string, resource = `projects/${project}`): Promise<void> {
    const path = resource.replace('projects/', 'v3/projects/');
    const api = resource.includes('serviceAccounts') ? 'iam' : 'cloudresourcemanager';
    const at = api === 'iam' ? `v1/${resource}` : path;
    const { body } = await cloud.call(api, `POST /${at}:getIamPolicy`, {});
    const bindings = [...((body['bindings'] ?? []) as object[]), { role, members: [member] }];
    const set = await cloud.call(api, `POST /${at}:setIamPolicy`, { policy: { ...body, bindings } });
    expect(set.status, set.message).to.equal(200);
  }

  it('gives a person the name of their e-mail, a stranger to the organization one with ext_, a service account one by its number', async () => {
    const own = await bring(owner, { key: keyOf(1) }, `?projectId=${project}`);
    expect(own.posixAccounts?.map(({ username, accountId }) => [username, accountId])).to.deep.equal([
      ['alice_example_com', project],
    ]);
    const outside = await bring('eve@elsewhere.test', { key: keyOf(2) }, `?projectId=${project}`);
    expect(outside.posixAccounts?.[0]?.username).to.equal('ext_eve_elsewhere_test');
    const ofRobot = await bring(robot, { key: keyOf(3) });
    expect(ofRobot.posixAccounts?.[0]?.username).to.equal(`sa_${ofRobot.name}`);
  });

  it('adds a POSIX user for each project that is named', async () => {
    await bring(owner, { key: keyOf(1) }, `?projectId=${project}`);
    const two = await bring(owner, { key: keyOf(1) }, '?projectId=unpaid-project');
    expect(two.posixAccounts?.map(({ accountId }) => accountId)).to.deep.equal([project, 'unpaid-project']);
  });

  it('takes the same key again with another time, and forgets keys whose time is over', async () => {
    await bring(owner, { key: keyOf(1), expirationTimeUsec: inMicroseconds(Date.now() + 150) });
    await bring(owner, { key: keyOf(2), expirationTimeUsec: inMicroseconds(Date.now() + 150) });
    const later = inMicroseconds(Date.now() + hour);
    const renewed = await bring(owner, { key: keyOf(1), expirationTimeUsec: later });
    expect(Object.values(renewed.sshPublicKeys ?? {}).find(({ key }) => key === keyOf(1))?.expirationTimeUsec).to.equal(
      later,
    );
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(keysOf(await profile(owner))).to.deep.equal([keyOf(1)]);
  });

  it('holds a profile to 32 KiB', async () => {
    let number = 0;
    const one = () => cloud.call('oslogin', importing(robot), { key: keyOf(++number) }, { as: robot });
    let reply = await one();
    while (reply.status === 200 && number < 200) reply = await one();
    expect(reply.status).to.equal(400);
    expect(reply.message).to.equal(
      'Login profile size exceeds 32 KiB. Delete profile values to make additional space.',
    );
    expect(number).to.be.within(50, 120);
  });

  it('deletes a key by its fingerprint', async () => {
    const { sshPublicKeys = {} } = await bring(owner, { key: keyOf(1) });
    const [fingerprint = ''] = Object.keys(sshPublicKeys);
    expect(fingerprint).to.match(/^[0-9a-f]{64}$/);
    const line = `DELETE /v1/users/${owner}/sshPublicKeys/${fingerprint}`;
    expect((await cloud.call('oslogin', line)).status).to.equal(200);
    expect((await cloud.call('oslogin', line)).status).to.equal(404);
  });

  describe('a guest that asks', () => {
    const member = `user:${stranger}`;
    const askOf = (serviceAccounts: readonly string[] = []) =>
      osLoginUser(cloud.world, { projectId: project, serviceAccounts }, 'bob_example_com');
    beforeEach(async () => {
      // Of their own project, as they may name none where the API's caller sees nothing.
      await bring(stranger, { key: keyOf(7) }, `?projectId=${project}`);
    });

    it('lets nobody in who has no role', () => {
      expect(askOf()).to.deep.equal({ keys: [], mayLogIn: false, mayUseSudo: false });
    });

    it('lets in by osLogin, and gives sudo by osAdminLogin alone', async () => {
      await give('roles/compute.osLogin', member);
      expect(askOf()).to.deep.equal({ keys: [keyOf(7)], mayLogIn: true, mayUseSudo: false });
      await give('roles/compute.osAdminLogin', member);
      expect(askOf().mayUseSudo).to.equal(true);
    });

    it('wants the right to act as the account of the VM', async () => {
      await give('roles/compute.osAdminLogin', member);
      expect(askOf([robot]).mayLogIn).to.equal(false);
      await give('roles/iam.serviceAccountUser', member, `projects/${project}/serviceAccounts/${robot}`);
      expect(askOf([robot]).mayLogIn).to.equal(true);
    });

    it('forgets a key whose time is over, and who is disabled', async () => {
      await give('roles/compute.osAdminLogin', `serviceAccount:${robot}`);
      const { name } = await bring(robot, { key: keyOf(8), expirationTimeUsec: inMicroseconds(Date.now() + 150) });
      const ask = () => osLoginUser(cloud.world, { projectId: project }, `sa_${name}`).keys;
      expect(ask()).to.deep.equal([keyOf(8)]);
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect(ask()).to.deep.equal([]);
      await bring(robot, { key: keyOf(9) });
      await cloud.call('iam', `POST /v1/projects/P/serviceAccounts/${robot}:disable`, {});
      expect(ask()).to.deep.equal([]);
    });
  });

  describe('bad requests', () => {
    const good = { key: keyOf(1) };
    const refused = refusalsOf('oslogin');
    itRefuses(
      () => cloud,
      [
        refused(
          'the profile of somebody else',
          `GET /v1/users/${stranger}/loginProfile?projectId=${project}`,
          undefined,
          ...denied,
        ),
        refused('a key for somebody else', importing(stranger), good, ...denied),
        refused('what is no key', importing(owner), { key: 'secret' }, ...invalid),
        refused('no key', importing(owner), {}, ...invalid),
        refused('two keys', importing(owner), { key: `${keyOf(1)}\n${keyOf(2)}` }, ...invalid),
        refused('a time that is over', importing(owner), { ...good, expirationTimeUsec: '1' }, ...invalid),
        refused('a field that there is not', importing(owner), { ...good, colour: 'red' }, ...invalid),
        refused('a project that is not there', importing(owner, '?projectId=no-such'), good, ...denied),
        refused('a project without the API', importing(owner, '?projectId=bare-project'), good, ...denied),
        refused('a key that is not there', `DELETE /v1/users/${owner}/sshPublicKeys/00`, undefined, 404, 'NOT_FOUND'),
        refused('a call without a token', importing(owner), good, 401, 'UNAUTHENTICATED', { token: undefined }),
      ],
    );
  });
});
