/** IAP's tunnel: who gets through it, to what, and with which words it refuses. */
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Reached } from '../../local/cloud/iap/tunnel.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { setOrganizationPolicy } from '../../local/cloud/org-policy/policies.js';
import { createPair } from '../../local/machines/network/streams.js';
import { until } from '../support/halves.js';
import { furnish, zone } from './furnished.js';
import { owner, ownersBindings, project, type ReadyCloud, readyCloud, services, stranger } from './ready-cloud.js';
import { type Opening, openWire, target, type Wire } from './tunnel-client.js';

const accessor = 'roles/iap.tunnelResourceAccessor';

describe('the tunnel of IAP', () => {
  let cloud: ReadyCloud;
  /** The VM's ends of the connections. */
  let vmEnds: Duplex[];
  /** The tunnel's ends of them. */
  let nearEnds: Duplex[];
  let answer: 'echo' | 'silence' | Reached['kind'];

  before(async () => {
    cloud = await readyCloud({
      initial: {
        organizations: [{ name: 'organizations/100', displayName: 'example.com' }],
        billingAccounts: [{ name: 'billingAccounts/000000-000000-000000', displayName: 'Billing' }],
        projects: [
          {
            projectId: project,
            parent: 'organizations/100',
            billingAccountName: 'billingAccounts/000000-000000-000000',
            services: [...services, 'iap.googleapis.com'],
          },
        ],
        bindings: ownersBindings,
      },
    });
    await furnish(cloud);
    cloud.tunnel.leadTo(async (path, port) => {
      expect(path).to.equal(`projects/${project}/zones/${zone}/instances/jumpbox`);
      expect(port).to.equal(22);
      if (answer === 'refused' || answer === 'dropped') return { kind: answer };
      const [near, far] = createPair();
      vmEnds.push(far);
      nearEnds.push(near);
      if (answer === 'echo') far.pipe(far);
      return { kind: 'open', stream: near };
    });
  });
  beforeEach(() => {
    vmEnds = [];
    nearEnds = [];
    answer = 'echo';
  });
  afterEach(() => cloud.tunnel.forget());
  after(() => cloud.close());

  const opened = async (opening: Opening = {}): Promise<Wire> => {
    const wire = openWire(cloud, opening);
    await wire.begun;
    return wire;
  };
  const again = (wire: Wire, ack: number, more: Opening = {}): Promise<Wire> =>
    opened({ path: 'reconnect', query: { sid: wire.sid(), ack: String(ack), zone, newWebsocket: 'True' }, ...more });
  const bind = async (role: string, member: string): Promise<void> => {
    const { body } = await cloud.call('cloudresourcemanager', `POST /v3/projects/${project}:getIamPolicy`, {});
    const bindings = [...((body['bindings'] ?? []) as object[]), { role, members: [member] }];
    const reply = await cloud.call('cloudresourcemanager', `POST /v3/projects/${project}:setIamPolicy`, {
      policy: { ...body, bindings },
    });
    expect(reply.status, reply.message).to.equal(200);
  };

  it('carries bytes both ways, and says who has one open', async () => {
    const wire = await opened();
    expect(wire.frames[0]?.readUInt16BE(0)).to.equal(1);
    wire.sendData('SSH-2.0-test\r\n');
    expect(String(await wire.received(14))).to.equal('SSH-2.0-test\r\n');
    const [one] = cloud.tunnel.list();
    expect(one).to.include({ caller: owner, port: 22, isCarried: true });
    wire.socket.close(1000);
    expect(await wire.closed).to.equal('1000');
    await sleep(20);
    expect(cloud.tunnel.list()).to.deep.equal([]);
  });

  it('acknowledges what it got after two frames of the largest size', async () => {
    answer = 'silence';
    const wire = await opened();
    const frame = Buffer.alloc(16_384, 'x');
    for (let sent = 0; sent < 3; sent++) wire.sendData(frame);
    const acksOf = () => wire.frames.filter((one) => one.readUInt16BE(0) === 7);
    await until('an acknowledgement', () => acksOf().length > 0 || undefined);
    await sleep(50);
    const acks = acksOf();
    expect(acks.map((one) => Number(one.readBigUInt64BE(2)))).to.deep.equal([3 * 16_384]);
  });

  it('holds the VM back when the client acknowledges nothing', async () => {
    answer = 'silence';
    const wire = await opened();
    const source = vmEnds[0];
    let taken = 0;
    const feed = async (): Promise<void> => {
      for (; taken < 400; taken++) {
        const isFree = source?.write(Buffer.alloc(16_384)) ?? false;
        if (!isFree) await new Promise((resolve) => source?.once('drain', resolve));
      }
    };
    void feed();
    const full = 1024 * 1024;
    await until('a full window', () => wire.data().length >= full || undefined);
    await sleep(200);
    const before = wire.data().length;
    expect(before).to.be.within(full, 1.2 * full);
    wire.acknowledge(before);
    await until('more than the window', () => wire.data().length > before || undefined);
  });

  const refused: readonly [title: string, opening: () => Opening, said: string][] = [
    ['another path', () => ({ path: 'open' }), 'HTTP 404'],
    ['another origin', () => ({ origin: 'https://example.com' }), 'HTTP 403'],
    ['another subprotocol', () => ({ protocols: ['relay'] }), 'HTTP 400'],
    ['no token', () => ({ token: '' }), 'HTTP 401'],
    ['a token that is over', () => ({ token: cloud.identity.accessToken(owner, -1) }), 'HTTP 401'],
    ['no port', () => ({ query: { ...target, port: '0' } }), 'HTTP 400'],
    ['a tunnel to a host', () => ({ query: { project, port: '22', host: 'db', region: 'r' } }), 'HTTP 501'],
    ['a caller without the permission', () => ({ as: stranger }), '4033 not authorized'],
    ['a project that is not there', () => ({ query: { ...target, project: 'no-such' } }), '4033 not authorized'],
    ['a VM that is not there', () => ({ query: { ...target, instance: 'k0s-9' } }), '4047 Failed to lookup instance'],
    ['another zone', () => ({ query: { ...target, zone: 'europe-west4-b' } }), '4047 Failed to lookup instance'],
    ['a second interface', () => ({ query: { ...target, interface: 'nic1' } }), '4047 Failed to lookup instance'],
    [
      'a session that is not known',
      () => ({ path: 'reconnect', query: { sid: 'x', ack: '0', zone } }),
      '4001 sid unknown',
    ],
    ['an ack that is no number', () => ({ path: 'reconnect', query: { sid: 'x', ack: '-1', zone } }), 'HTTP 400'],
  ];
  for (const [title, opening, said] of refused) {
    it(`refuses ${title}`, async () => {
      expect(await (await opened(opening())).closed).to.equal(said);
      expect(vmEnds).to.deep.equal([]);
    });
  }

  for (const kind of ['refused', 'dropped'] as const) {
    it(`finds no backend where the VM's answer is ${kind}`, async () => {
      answer = kind;
      expect(await (await opened()).closed).to.equal('4003 failed to connect to backend');
    });
  }

  it('lets in whoever gets the role, and nobody by the role of an editor', async () => {
    await bind('roles/editor', `user:${stranger}`);
    expect(await (await opened({ as: stranger })).closed).to.equal('4033 not authorized');
    await bind(accessor, `user:${stranger}`);
    const wire = await opened({ as: stranger });
    expect(wire.sid()).not.to.equal('');
    // The session is the caller's own.
    cloud.tunnel.cut();
    expect(await (await again(wire, 0)).closed).to.equal('4001 sid unknown');
  });

  it('goes on where the client stopped, byte by byte', async () => {
    answer = 'silence';
    const wire = await opened();
    const text = Buffer.from(Array.from({ length: 9000 }, (_, index) => index % 251));
    vmEnds[0]?.write(text);
    await wire.received(9000);
    wire.sendData('hello');
    await sleep(20);
    cloud.tunnel.cut();
    expect(await wire.closed).to.equal('1006');
    vmEnds[0]?.write('meanwhile');
    const next = await again(wire, 4321);
    expect(next.frames[0]?.readUInt16BE(0)).to.equal(2);
    expect(Number(next.frames[0]?.readBigUInt64BE(2))).to.equal('hello'.length);
    expect(await next.received(9000 - 4321 + 9)).to.deep.equal(
      Buffer.concat([text.subarray(4321), Buffer.from('meanwhile')]),
    );
    expect(String(vmEnds[0]?.read())).to.equal('hello');
  });

  it('takes a tunnel up again after asking for a new login, and not while it is carried', async () => {
    const wire = await opened();
    expect(await (await again(wire, 0)).closed).to.equal('4002 sid in use');
    cloud.tunnel.cut('reauthenticate');
    expect(await wire.closed).to.equal('4004 reauthentication required');
    expect((await again(wire, 0)).frames).to.have.length(1);
  });

  it('takes a tunnel up again after asking for a new login, though the client answers with a code of its own', async () => {
    const wire = await opened();
    const { socket } = wire;
    const close = socket.close.bind(socket);
    // As gcloud's client does, where others repeat what they got.
    socket.close = () => close(1000);
    cloud.tunnel.cut('reauthenticate');
    await wire.closed;
    expect((await again(wire, 0)).frames).to.have.length(1);
  });

  it('refuses to go on before what was acknowledged, or after what was sent', async () => {
    answer = 'silence';
    const wire = await opened();
    vmEnds[0]?.write(Buffer.alloc(100));
    await wire.received(100);
    wire.acknowledge(50);
    await sleep(20);
    cloud.tunnel.cut();
    await wire.closed;
    expect(await (await again(wire, 49)).closed).to.equal('4005 bad ack');
    expect(await (await again(wire, 101)).closed).to.equal('4005 bad ack');
    expect((await (await again(wire, 50)).received(50)).length).to.equal(50);
  });

  const broken: readonly [title: string, send: (wire: Wire) => void, said: string][] = [
    ['text', (wire) => wire.socket.send('hello'), '4007 invalid websocket opcode'],
    ['an unknown tag', (wire) => wire.send(9, 'hello'), '4008 invalid tag'],
    ['more data than a frame may hold', (wire) => wire.sendData(Buffer.alloc(16_385)), '4013 invalid data'],
    ['data shorter than its length', (wire) => wire.send(4, '\0\0\0\x09', 'hello'), '4013 invalid data'],
    ['an acknowledgement of what was not sent', (wire) => wire.acknowledge(1), '4006 invalid ack'],
  ];
  for (const [title, send, said] of broken) {
    it(`ends a tunnel for ${title}`, async () => {
      const wire = await opened();
      send(wire);
      expect(await wire.closed).to.equal(said);
      await sleep(20);
      expect(cloud.tunnel.list()).to.deep.equal([]);
    });
  }

  it('brings the last bytes and says why when the VM ends the connection', async () => {
    answer = 'silence';
    const wire = await opened();
    vmEnds[0]?.end('bye');
    expect(await wire.closed).to.equal('1000');
    expect(String(wire.data())).to.equal('bye');
    const other = await opened();
    nearEnds[1]?.destroy(new Error('the VM lost power'));
    expect(await other.closed).to.equal('4010 destination read failed');
  });

  it('keeps the last bytes for a client that lost its connection before them', async () => {
    answer = 'silence';
    const wire = await opened();
    cloud.tunnel.cut();
    await wire.closed;
    vmEnds[0]?.end('bye');
    await sleep(20);
    const next = await again(wire, 0);
    expect(await next.closed).to.equal('1000');
    expect(String(next.data())).to.equal('bye');
  });

  it('opens none where an organization policy keeps the project from IAP', async () => {
    const set = (rules?: JsonObject[]) =>
      setOrganizationPolicy(cloud.world, `projects/${project}`, 'gcp.restrictServiceUsage', rules);
    set([{ values: { deniedValues: ['iap.googleapis.com'] } }]);
    expect(await (await opened()).closed).to.equal('4033 not authorized');
    set();
    await opened();
  });

  it('looks up only VMs that run, and projects with the API', async () => {
    const stop = `POST /compute/v1/projects/P/zones/${zone}/instances/jumpbox/stop`;
    expect((await cloud.call('compute', stop)).status).to.equal(200);
    expect(await (await opened()).closed).to.equal('4047 Failed to lookup instance');
    const disable = `POST /v1/projects/${project}/services/iap.googleapis.com:disable`;
    expect((await cloud.call('serviceusage', disable, {})).status).to.equal(200);
    expect(await (await opened()).closed).to.equal('4033 not authorized');
  });
});
