import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Forge1, forge1NarrowPat, forge1Pat, startForge1 } from '../../local/forge1/forge1.js';
import type { BootstrapSummary, BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { flagName, flags, isSecret, optionNames } from '../../shared/bootstrap/options.js';
import type { BeginReply, PlanReply } from '../../shared/bootstrap/routes.js';
import { Problem, type ProblemCode, problemKinds } from '../../shared/problems.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const alice = 'alice@example.com';
const bob = 'bob@example.com';
const ops = 'ops@example.com';

describe('the bootstrap API', () => {
  let issuer: Issuer;
  let forge1: Forge1;
  let server: BootstrapsServer;
  before(async () => {
    issuer = await createIssuer();
    forge1 = await startForge1();
  });
  after(async () => {
    issuer.close();
    await forge1.close();
  });
  beforeEach(async () => {
    const env = { PLINTH_ENDPOINTS: `issuer-keys=${issuer.jwksUrl},forge1-api=${forge1.url}` };
    server = await createBootstrapsServer(issuer, { env });
  });
  afterEach(async () => {
    await server.settle();
    server.close();
  });

  const begin = async (name: string, as = alice, status = 201): Promise<BeginReply> =>
    server.json<BeginReply>(status, 'POST', '/bootstraps', { as, body: makeRequest(name) });

  describe('POST /bootstraps', () => {
    it('begins a bootstrap, and shows it as it stands', async () => {
      const { bootstrap, created, changes, warnings } = await begin('first one');
      expect({ created, changes }).to.deep.equal({ created: true, changes: [] });
      expect(bootstrap).to.include({ name: 'first one', owner: alice, state: 'running', region: 'europe-west4' });
      expect(bootstrap.options).not.to.have.property('forge1AppClientSecret');
      expect(warnings).to.deep.equal(bootstrap.warnings);
      await server.settle();
      const after = await server.json<BootstrapView>(200, 'GET', `/bootstraps/${bootstrap.id}`);
      expect(after.state).to.equal('succeeded');
    });

    it('resumes what its owner began under the same name', async () => {
      const { bootstrap } = await begin('first one');
      await server.settle();
      const body = makeRequest('first one', { projectTtl: '3h' });
      const again = await server.json<BeginReply>(200, 'POST', '/bootstraps', { body });
      expect(again.created).to.equal(false);
      expect(again.bootstrap.id).to.equal(bootstrap.id);
      expect(again.changes).to.deep.equal([{ option: '--project-ttl', from: '2h', to: '3h' }]);
    });

    it('refuses to change what cannot change, showing both values', async () => {
      await begin('first one');
      const body = makeRequest('first one', { baseDomain: 'other.example.com' });
      const { detail } = await server.problem(409, 'POST', '/bootstraps', { body });
      expect(detail).to.contain('example.com').and.to.contain('other.example.com').and.to.contain('--base-domain');
    });

    it("refuses a name that is somebody else's, and tells nothing more of it", async () => {
      const { bootstrap } = await begin('first one');
      const refused = await server.problem(409, 'POST', '/bootstraps', { as: bob, body: makeRequest('first one') });
      const told = JSON.stringify(refused);
      for (const secret of [bootstrap.id, bootstrap.projectId, bootstrap.owner, bootstrap.createdAt, bootstrap.state])
        expect(told).not.to.include(secret);
    });

    it('shows with dryRun=true what it would make, and makes nothing', async () => {
      const body = makeRequest('first one', { multiDc: true });
      const { instances } = await server.json<PlanReply>(200, 'POST', '/bootstraps?dryRun=true', { body });
      expect(instances.map(({ id }) => id)).to.deep.equal(['project', 'age-identity', 'config:dc1', 'config:dc2']);
      expect(instances[2]?.needs).to.deep.equal(['project', 'age-identity']);
      expect(instances[0]?.makes).to.deep.equal(['project first one']);
      expect(await server.json(200, 'GET', '/bootstraps')).to.deep.equal([]);
    });

    it('names all faults at once, by flag or by field', async () => {
      const body = makeRequest('first one', { region: 'nowhere', rootDiskSize: 1, spotVms: true, preemptible: true });
      const flagFaults = await server.problem(400, 'POST', '/bootstraps', { body });
      expect(flagFaults.errors?.map(({ path }) => path)).to.include.members([
        '--region',
        '--root-disk-size',
        '--preemptible',
      ]);
      const odd = { ...makeRequest('x'), options: { ...makeRequest('x').options, colour: 'red', zone: 7 }, extra: 1 };
      const formFaults = await server.problem(400, 'POST', '/bootstraps', { body: odd });
      expect(formFaults.errors?.map(({ path }) => path)).to.have.members([
        'options.colour',
        'options.zone',
        'extra',
        '--project-name',
      ]);
    });

    it('refuses a team of forge1 that the token does not see, before anything is made', async () => {
      const team = { forge1TeamOrg: 'example', forge1TeamSlug: 'nobodies', forge1Pat };
      const { errors } = await server.problem(400, 'POST', '/bootstraps', { body: makeRequest('first one', team) });
      expect(errors?.map(({ path }) => path)).to.deep.equal(['--forge1-team-org', '--forge1-team-slug']);
      expect(await server.json(200, 'GET', '/bootstraps')).to.deep.equal([]);
      const right = makeRequest('first one', { ...team, forge1TeamSlug: 'platform' });
      await server.json(201, 'POST', '/bootstraps', { body: right });
      const unknown = makeRequest('other one', { ...team, forge1Pat: 'nobodys-token' });
      const refused = await server.problem(400, 'POST', '/bootstraps', { body: unknown });
      expect(refused.errors?.map(({ path }) => path)).to.deep.equal(['--forge1-pat']);
    });

    it('refuses what would be about the machine of the caller alone', async () => {
      const body = {
        ...makeRequest('first one'),
        options: { ...makeRequest('first one').options, sshPrivateKeyPath: '/root/.ssh/id' },
      };
      const { errors } = await server.problem(400, 'POST', '/bootstraps', { body });
      expect(errors?.map(({ path }) => path)).to.deep.equal(['options.sshPrivateKeyPath']);
    });

    it('takes warnings for refusals if asked to', async () => {
      const body = makeRequest('first one', { vaultPassword: 'planted-vault-password' }, { strict: true });
      const { errors } = await server.problem(400, 'POST', '/bootstraps', { body });
      expect(errors?.map(({ path }) => path)).to.include('--vault-password');
    });

    it("never takes another bootstrap's files for the base of a new one, and says so", async () => {
      const base = { dc1: { config: 'planted: config', secrets: 'planted: secrets' } };
      const body = makeRequest('first one', {}, { base });
      const { bootstrap, warnings } = await server.json<BeginReply>(201, 'POST', '/bootstraps', { body });
      expect(warnings.join()).to.contain('are of another one');
      expect(bootstrap.warnings).to.deep.equal(warnings);
      await server.settle();
      expect(JSON.stringify(await server.context.store.query({ collection: 'files' }))).not.to.contain('planted');
    });

    it('takes 2 MiB and no more', async () => {
      const base = { dc1: { config: '#'.repeat(400_000), secrets: '#'.repeat(400_000) } };
      const body = makeRequest('first one', {}, { base: { ...base, dc2: base.dc1 } });
      await server.json(201, 'POST', '/bootstraps', { body });
      const tooLong = JSON.stringify(makeRequest('second one')).padEnd(2 * 1024 * 1024 + 1);
      await server.problem(413, 'POST', '/bootstraps', { body: tooLong });
    });

    it('takes 64 KiB of options and no more, and names the largest', async () => {
      const many = (each: number) => Array.from({ length: 30 }, () => 'x'.repeat(each));
      await server.json(201, 'POST', '/bootstraps', {
        body: makeRequest('first one', { installSkipSteps: many(2000) }),
      });
      const body = makeRequest('second one', { installSkipSteps: many(2500), vaultPassword: 'y'.repeat(4000) });
      const { errors, detail } = await server.problem(400, 'POST', '/bootstraps', { body });
      expect(errors?.map(({ path }) => path)).to.deep.equal(['options']);
      expect(detail).to.match(/at most 64 KiB in all; .*: --install-skip-steps \(74 KiB\), --vault-password \(4 KiB\)/);
    });

    it('checks the scopes of a forge1 token before anything is made', async () => {
      const narrow = makeRequest('first one', { forge1Pat: forge1NarrowPat });
      const { detail } = await server.problem(400, 'POST', '/bootstraps', { body: narrow });
      expect(detail).to.contain('--forge1-pat').and.to.contain('read:org').and.not.to.contain('read:packages');
      expect(server.secrets.size).to.equal(0);
      await server.json(201, 'POST', '/bootstraps', { body: makeRequest('first one', { forge1Pat }) });
    });
  });

  describe('who may bootstrap', () => {
    const may: Record<string, [email: string, status: number]> = {
      'somebody of an allowed domain': [alice, 201],
      'an allowed e-mail': [bob, 201],
      'an operator': [ops, 201],
      'a stranger': ['mallory@example.org', 403],
    };
    for (const [who, [as, status]] of Object.entries(may)) {
      it(`is ${status === 201 ? '' : 'not '}${who}`, async () => {
        const reply = await server.fetch('POST', '/bootstraps', { as, body: makeRequest('first one') });
        expect(reply.status).to.equal(status);
        await reply.text();
      });
    }

    it('is not told by the ending of an e-mail', async () => {
      const authorization = `Bearer ${await issuer.token('carol@example.com')}`;
      const body = makeRequest('first one');
      const { detail } = await server.problem(403, 'POST', '/bootstraps', {
        as: null,
        headers: { authorization },
        body,
      });
      expect(detail).to.contain('carol@example.com');
    });
  });

  describe('what may be used', () => {
    const limited = {
      PLINTH_BILLING_ACCOUNTS: '012345-6789AB-CDEF01',
      PLINTH_PARENTS: 'folders/100,folders/200',
      PLINTH_DNS_ZONES: 'dns-project/shared',
      PLINTH_MAX_TTL_SECONDS: '7200',
    };
    const cases: [what: string, options: Parameters<typeof makeRequest>[1], status: number, named: string][] = [
      ['the allowed account and the default parent', {}, 201, ''],
      ['an allowed parent', { folderId: '200' }, 201, ''],
      ['an allowed zone', { dnsProjectId: 'dns-project', dnsZoneName: 'shared' }, 201, ''],
      ['another account', { billingAccount: '999999-999999-999999' }, 403, '999999-999999-999999'],
      ['another parent', { folderId: '300' }, 403, 'folders/300'],
      ['another zone', { dnsProjectId: 'dns-project', dnsZoneName: 'other' }, 403, 'dns-project/other'],
      ['another zone project', { dnsProjectId: 'elsewhere', dnsZoneName: 'shared' }, 403, 'elsewhere/shared'],
      ['a longer time to live', { projectTtl: '3h' }, 400, '--project-ttl'],
    ];
    for (const [what, options, status, named] of cases) {
      it(`answers ${status} to ${what}`, async () => {
        const strict = await createBootstrapsServer(issuer, { env: limited });
        const reply = await strict.fetch('POST', '/bootstraps', { body: makeRequest('first one', options) });
        const text = await reply.text();
        expect(reply.status, text).to.equal(status);
        expect(text).to.contain(named);
        await strict.settle();
        strict.close();
      });
    }

    it('tells all of it at once, and asks Google nothing of an account that is not allowed', async () => {
      const strict = await createBootstrapsServer(issuer, { env: limited });
      strict.context.cloud.billing.account = () => Promise.reject(new Error('it was asked'));
      const body = makeRequest('first one', { billingAccount: '999999-999999-999999', projectTtl: '3h' });
      const { errors } = await strict.problem(400, 'POST', '/bootstraps', { body });
      expect(errors?.map(({ path }) => path)).to.deep.equal(['--billing-account', '--project-ttl']);
      strict.close();
    });

    it('tells a name that is somebody else’s beside other faults', async () => {
      const strict = await createBootstrapsServer(issuer, { env: limited });
      await strict.json(201, 'POST', '/bootstraps', { as: 'bob@example.com', body: makeRequest('first one') });
      await strict.settle();
      const body = makeRequest('first one', { projectTtl: '3h' });
      const { detail } = await strict.problem(400, 'POST', '/bootstraps', { body });
      expect(detail).to.contain('in use by somebody else').and.to.contain('--project-ttl');
      strict.close();
    });

    it('tells what is wrong with the options beside what Google and others say of them', async () => {
      const strict = await createBootstrapsServer(issuer, { env: limited });
      await strict.json(201, 'POST', '/bootstraps', { body: makeRequest('first one') });
      await strict.settle();
      strict.context.cloud.billing.account = async () => undefined;
      const changed = {
        baseDomain: 'other.example.com',
        billingAccount: '999999-999999-999999',
        clusterAdminEmail: 'nobody',
        vaultEngine: '',
        projectTtl: '3h',
      };
      const { errors } = await strict.problem(400, 'POST', '/bootstraps', { body: makeRequest('first one', changed) });
      expect(errors?.map(({ path }) => path)).to.have.members([
        '--base-domain',
        '--billing-account',
        '--cluster-admin-email',
        '--project-ttl',
        '--vault-engine',
      ]);
      const { bootstrap } = await strict.json<BeginReply>(200, 'POST', '/bootstraps', {
        body: makeRequest('first one'),
      });
      expect(bootstrap.generation).to.equal(2);
      strict.close();
    });

    it('tells what has a wrong form beside the rest', async () => {
      const strict = await createBootstrapsServer(issuer, { env: limited });
      strict.context.cloud.billing.account = async () => undefined;
      const body = {
        ...makeRequest('first one', { folderId: '300', zone: 'nowhere' }),
        sshPublicKey: 'none',
        more: 1,
      };
      Object.assign(body.options, { baseDomain: 7, unknown: true });
      const { errors } = await strict.problem(400, 'POST', '/bootstraps', { body });
      expect(errors?.map(({ path }) => path)).to.have.members([
        'options.baseDomain',
        'options.unknown',
        'sshPublicKey',
        'more',
        '--zone',
        '--folder-id',
        '--billing-account',
      ]);
      for (const nothing of [{}, { options: 7 }, { options: null, sshPublicKey: 7 }, [], 7]) {
        await strict.problem(400, 'POST', '/bootstraps', { body: nothing });
      }
      strict.close();
    });

    it('needs a folder where there is no parent of the deployment', async () => {
      const homeless = await createBootstrapsServer(issuer, { env: { PLINTH_PARENTS: '' } });
      const { errors } = await homeless.problem(400, 'POST', '/bootstraps', { body: makeRequest('first one') });
      expect(errors?.map(({ path }) => path)).to.deep.equal(['--folder-id']);
      homeless.close();
    });

    it('is limited in number, and Retry-After says when to ask again', async () => {
      const small = await createBootstrapsServer(issuer, { env: { PLINTH_LIVING_PER_OWNER: '1' } });
      await small.json(201, 'POST', '/bootstraps', { body: makeRequest('first one') });
      const reply = await small.fetch('POST', '/bootstraps', { body: makeRequest('second one') });
      expect(reply.status).to.equal(429);
      expect(Number(reply.headers.get('retry-after'))).to.be.greaterThan(0);
      expect(((await reply.json()) as { limit: string }).limit).to.equal('livingPerOwner');
      await small.settle();
      small.close();
    });
  });

  describe('what a caller sees', () => {
    it("is their own bootstraps, newest first, and nobody else's", async () => {
      await begin('first one');
      await begin('second one');
      await begin('third one', bob);
      const names = async (path: string, as: string) =>
        (await server.json<BootstrapSummary[]>(200, 'GET', path, { as })).map(({ name }) => name);
      expect(await names('/bootstraps', alice)).to.have.members(['first one', 'second one']);
      expect(await names('/bootstraps', bob)).to.deep.equal(['third one']);
      expect(await names('/bootstraps', ops)).to.deep.equal([]);
      expect(await names('/bootstraps?all=true', ops)).to.have.members(['first one', 'second one', 'third one']);
      await server.problem(403, 'GET', '/bootstraps?all=true', { as: alice });
    });

    it("is found by the project's name, its id, or the bootstrap's own", async () => {
      const { bootstrap } = await begin('first one');
      await begin('second one');
      const found = async (name: string, as: string) =>
        (await server.json<BootstrapSummary[]>(200, 'GET', `/bootstraps?name=${encodeURIComponent(name)}`, { as })).map(
          ({ id }) => id,
        );
      for (const name of [bootstrap.name, bootstrap.projectId, bootstrap.id]) {
        expect(await found(name, alice), name).to.deep.equal([bootstrap.id]);
        expect(await found(name, ops), name).to.deep.equal([bootstrap.id]);
        expect(await found(name, bob), name).to.deep.equal([]);
      }
      expect(await found('nobody', ops)).to.deep.equal([]);
    });

    it('is open to operators', async () => {
      const { bootstrap } = await begin('first one');
      await server.settle();
      await server.json(200, 'GET', `/bootstraps/${bootstrap.id}`, { as: ops });
      expect((await server.fetch('GET', `/bootstraps/${bootstrap.id}/secrets`, { as: ops })).status).to.equal(200);
    });

    it('refuses an id that can be none', async () => {
      await server.problem(400, 'GET', '/bootstraps/..%2F..%2Fetc');
      await server.problem(400, 'GET', '/bootstraps/UPPER');
    });
  });

  describe('POST /bootstraps/{id}/cancel', () => {
    it('stops what runs, and changes nothing once it has ended', async () => {
      server.world.closed = true;
      const { bootstrap } = await begin('first one');
      const { state } = await server.json<BootstrapView>(200, 'POST', `/bootstraps/${bootstrap.id}/cancel`, {
        body: {},
      });
      expect(state).to.be.oneOf(['cancelling', 'cancelled']);
      server.world.closed = false;
      await server.settle();
      const after = await server.json<BootstrapView>(200, 'POST', `/bootstraps/${bootstrap.id}/cancel`);
      expect(after.state).to.equal('cancelled');
    });

    it('takes no body', async () => {
      const { bootstrap } = await begin('first one');
      await server.problem(400, 'POST', `/bootstraps/${bootstrap.id}/cancel`, { body: { now: true } });
    });
  });

  describe('the files', () => {
    it('are handed out as YAML, by datacenter', async () => {
      const body = makeRequest('first one', { multiDc: true });
      const { bootstrap } = await server.json<BeginReply>(201, 'POST', '/bootstraps', { body });
      await server.settle();
      const files: Record<string, string> = {
        '/config': 'datacenter: dc1\n',
        '/config?datacenter=dc2': 'datacenter: dc2\n',
        '/secrets?datacenter=dc1': 'sops: of dc1\n',
        '/secrets?datacenter=dc2': 'sops: of dc2\n',
      };
      for (const [path, content] of Object.entries(files)) {
        const reply = await server.fetch('GET', `/bootstraps/${bootstrap.id}${path}`);
        expect(await reply.text()).to.equal(content);
        expect(reply.headers.get('content-type')).to.contain('text/yaml');
        expect(reply.headers.get('cache-control')).to.equal('no-store');
      }
      await server.problem(400, 'GET', `/bootstraps/${bootstrap.id}/config?datacenter=dc3`);
    });

    it('are a conflict until they are made, and not found where there is no such datacenter', async () => {
      server.world.closed = true;
      const { bootstrap } = await begin('first one');
      await server.problem(409, 'GET', `/bootstraps/${bootstrap.id}/config`);
      await server.problem(404, 'GET', `/bootstraps/${bootstrap.id}/config?datacenter=dc2`);
      server.world.closed = false;
    });

    it('are opened by the age identity, and who read it is on record', async () => {
      const { bootstrap } = await begin('first one');
      await server.settle();
      const reply = await server.fetch('POST', `/bootstraps/${bootstrap.id}/age-identity`, { as: ops });
      expect(reply.headers.get('cache-control')).to.equal('no-store');
      expect(((await reply.json()) as { identity: string }).identity).to.match(/^AGE-SECRET-KEY-1/);
      const events = await (await server.fetch('GET', `/bootstraps/${bootstrap.id}/events`)).text();
      expect(events).to.contain(`"type":"action"`).and.to.contain(`"actor":"${ops}","action":"age-identity"`);
    });
  });

  describe('GET /bootstraps/{id}/events', () => {
    interface Item {
      readonly id: string | undefined;
      readonly type: string;
      readonly data: Record<string, unknown>;
    }
    const itemsIn = (text: string): Item[] =>
      text
        .split('\n\n')
        .filter((block) => block.includes('data: '))
        .map((block) => ({
          id: /^id: (.*)$/m.exec(block)?.[1],
          type: /^event: (.*)$/m.exec(block)?.[1] ?? '',
          data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as Record<string, unknown>,
        }));

    it('tells all that happened, and ends with the bootstrap', async () => {
      const { bootstrap } = await begin('first one');
      const reply = await server.fetch('GET', `/bootstraps/${bootstrap.id}/events`);
      expect(reply.headers.get('content-type')).to.equal('text/event-stream');
      const items = itemsIn(await reply.text());
      const told = items.filter(({ type }) => type === 'instance' || type === 'state' || type === 'end');
      expect(told[0]?.data).to.include({ type: 'state', state: 'running', generation: 1 });
      expect(told.slice(1, -2).map(({ data }) => data['instance'])).to.have.members([
        'project',
        'age-identity',
        'config:dc1',
      ]);
      expect(told.at(-2)?.data).to.include({ type: 'state', state: 'succeeded' });
      expect(told.at(-1)?.data).to.include({ type: 'end', reason: 'ended', state: 'succeeded' });
      expect(items.every(({ type, data }) => type === data['type'])).to.equal(true);
    });

    it('goes on after the cursor, in the header or in the query', async () => {
      const { bootstrap } = await begin('first one');
      await server.settle();
      const path = `/bootstraps/${bootstrap.id}/events`;
      const all = itemsIn(await (await server.fetch('GET', path)).text());
      const second = all[1]?.id as string;
      const rest = all.slice(2).map(({ data }) => data);
      const byQuery = itemsIn(await (await server.fetch('GET', `${path}?cursor=${second}`)).text());
      const byHeader = itemsIn(
        await (await server.fetch('GET', path, { headers: { 'last-event-id': second } })).text(),
      );
      expect(byQuery.map(({ data }) => data)).to.deep.equal(rest);
      expect(byHeader.map(({ data }) => data)).to.deep.equal(rest);
      await server.problem(400, 'GET', `${path}?cursor=nonsense`);
      await server.problem(400, 'GET', path, { headers: { 'last-event-id': 'nonsense' } });
    });

    it('loses nothing when it breaks off at any moment and is taken up again', async () => {
      server.world.closed = true;
      const { bootstrap } = await begin('first one');
      const path = `/bootstraps/${bootstrap.id}/events`;
      const seen = new Map<string, unknown>();
      let cursor: string | undefined;
      let over = false;
      for (let round = 0; !over; round += 1) {
        if (round === 3) server.world.closed = false;
        const client = new AbortController();
        const headers = cursor === undefined ? {} : { 'last-event-id': cursor };
        const reply = await server.fetch('GET', path, { headers, signal: client.signal });
        const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
        const leaveAt = Date.now() + 10 + 7 * round;
        let text = '';
        try {
          let next: ReturnType<typeof reader.read> | undefined;
          while (Date.now() < leaveAt) {
            next ??= reader.read();
            const came = await Promise.race([next, sleep(10)]);
            if (came === undefined) continue;
            if (came.done) break;
            text += new TextDecoder().decode(came.value);
            next = undefined;
          }
        } finally {
          client.abort();
          // A stream whose end came before the abort, and was not read, closes only when it is cancelled.
          await reader.cancel().catch(() => undefined);
        }
        for (const { id, type, data } of itemsIn(text.slice(0, text.lastIndexOf('\n\n') + 2))) {
          if (type === 'end') over = data['reason'] === 'ended';
          else if (id !== undefined) seen.set(id, data);
          cursor = id ?? cursor;
        }
      }
      const whole = itemsIn(await (await server.fetch('GET', path)).text()).filter(({ type }) => type !== 'end');
      expect([...seen.values()]).to.deep.equal(whole.map(({ data }) => data));
    });

    it('tells what is under way, and lets go of its watcher when the client goes', async () => {
      server.world.closed = true;
      const { bootstrap } = await begin('first one');
      const client = new AbortController();
      const reply = await server.fetch('GET', `/bootstraps/${bootstrap.id}/events`, { signal: client.signal });
      const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
      const ofProject = (text: string): Item | undefined =>
        itemsIn(text.slice(0, text.lastIndexOf('\n\n') + 2)).find(
          ({ type, data }) => type === 'progress' && data['instance'] === 'project',
        );
      let text = '';
      while (ofProject(text) === undefined) text += new TextDecoder().decode((await reader.read()).value);
      const progress = ofProject(text);
      expect(progress?.id).to.equal(undefined);
      expect(progress?.data['attempt']).to.equal(0);
      expect(server.watched()).to.equal(1);
      client.abort();
      await reader.cancel().catch(() => undefined);
      while (server.watched() > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      server.world.closed = false;
    });

    for (const [how, verb, email] of [
      ['shares it no more', 'unshare', 'bob@example.com'],
      ['gives it away', 'transfer', 'carol@example.com'],
    ] as const) {
      it(`breaks off when its owner ${how}, and tells whoever lost it nothing more`, async () => {
        server.world.closed = true;
        const { bootstrap } = await begin('first one');
        const path = `/bootstraps/${bootstrap.id}`;
        const loser = verb === 'unshare' ? email : 'alice@example.com';
        if (verb === 'unshare') await server.json(200, 'POST', `${path}/share`, { body: { with: email } });
        const reply = await server.fetch('GET', `${path}/events`, { as: loser });
        const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
        let text = '';
        while (!text.includes('"instance":"project"')) text += new TextDecoder().decode((await reader.read()).value);
        await server.json(200, 'POST', `${path}/${verb}`, { body: { with: email } });
        let rest = '';
        try {
          for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
            rest += new TextDecoder().decode(piece.value);
          }
        } catch {
          // Cut off, as a stream that has begun can say no problem.
        }
        expect(rest).not.to.contain(`"action":"${verb}`);
        await server.problem(404, 'GET', `${path}/events`, { as: loser });
        expect(server.watched()).to.equal(0);
        server.world.closed = false;
      });
    }

    it('breaks silence with comments, and ends before its time-out, naming where to go on', async () => {
      const short = await createBootstrapsServer(issuer, { times: { commentSeconds: 0.02, streamSeconds: 0.15 } });
      short.world.closed = true;
      const { bootstrap } = await short.json<BeginReply>(201, 'POST', '/bootstraps', {
        body: makeRequest('first one'),
      });
      const text = await (await short.fetch('GET', `/bootstraps/${bootstrap.id}/events`)).text();
      expect(text).to.contain('\n\n: ');
      const end = itemsIn(text).at(-1);
      expect(end?.data).to.include({ type: 'end', reason: 'time', state: 'running' });
      expect(end?.id).to.be.a('string');
      short.world.closed = false;
      await short.settle();
      short.close();
    });
  });

  describe('secrets', () => {
    const planted = Object.fromEntries(
      optionNames.filter(isSecret).map((option) => [option, `planted-${option}-value`]),
    );
    const values = Object.values(planted);
    const endpoints = {
      forge2AppClientId: 'a',
      forge3AppClientId: 'b',
      forge4AppClientId: 'c',
      oidcClientId: 'd',
      oidcIssuerUrl: 'https://issuer.example.com',
      vaultUri: 'https://vault.example.com',
    };
    const expectNone = (text: string): void => {
      for (const value of values) expect(text).not.to.contain(value);
    };

    it('come out in no reply, document, message or log, whatever goes wrong', async () => {
      forge1.world.tokens[planted['forge1Pat'] as string] = ['read:packages', 'read:org'];
      const body = makeRequest('first one', { ...planted, ...endpoints });
      const told: string[] = [];
      const ask = async (given: unknown): Promise<number> => {
        const reply = await server.fetch('POST', '/bootstraps', { body: given });
        told.push(await reply.text());
        return reply.status;
      };
      const odd = { ...body, options: { ...body.options, rootDiskSize: 'x', zone: 'nowhere' } };
      expect(await ask(odd)).to.equal(400);
      expect(await ask({ ...odd, options: { ...odd.options, vaultPassword: [planted['vaultPassword']] } })).to.equal(
        400,
      );
      expect(await ask(JSON.stringify(body).slice(0, -1))).to.equal(400);
      expect(await ask(makeRequest('x', { ...planted, region: 'nowhere' }))).to.equal(400);

      server.world.fault = new Problem('cloud-input', `Google quotes ${planted['vaultPassword']}`);
      expect(await ask(body)).to.equal(201);
      await server.settle();
      server.world.fault = undefined;
      expect(
        await ask(makeRequest('first one', { ...planted, ...endpoints, vaultPassword: 'another-planted' })),
      ).to.equal(200);
      await server.settle();
      const [{ id } = { id: '' }] = await server.json<BootstrapSummary[]>(200, 'GET', '/bootstraps');
      for (const path of ['', '/events', '/config', '/secrets']) {
        told.push(await (await server.fetch('GET', `/bootstraps/${id}${path}`)).text());
      }
      const store = server.context.store as unknown as { dump(): object };
      expectNone([...told, ...server.logged, JSON.stringify(store.dump())].join('\n'));
      expect(told.join('')).not.to.contain('another-planted');
    });

    it('that are ordinary words take nothing away from what is said, and are warned of where they are short', async () => {
      const { vaultUri } = endpoints;
      const given = { vaultPassword: 'true', externalLogstoreSecret: 'preemptible', vaultUri };
      const first = makeRequest('first one', { ...given, preemptible: true });
      const { warnings } = await server.json<BeginReply>(201, 'POST', '/bootstraps', { body: first });
      expect(warnings.filter((text) => text.includes('fewer than 6 characters'))).to.have.lengthOf(1);
      expect(warnings.join()).to.match(/--vault-password has fewer than 6 characters/);
      const { detail, errors } = await server.problem(409, 'POST', '/bootstraps', {
        body: makeRequest('first one', given),
      });
      expect(detail).to.equal('--preemptible is true and cannot become false');
      expect(errors).to.deep.equal([{ path: '--preemptible', message: 'is true and cannot become false' }]);
      const asField = makeRequest('first one', { ...given, vaultPassword: 'ab-12', baseDomain: 'ab-12' });
      const problem = await server.problem(400, 'POST', '/bootstraps', { body: asField });
      expect(problem.errors?.[0]?.message).to.include('must be a domain name');
    });

    it('come out of no fault of ours, in the reply or in the log', async () => {
      const { secretManager } = server.context.cloud;
      secretManager.write = async (_, payload) => {
        throw new Error(`could not write ${payload}`, { cause: new Error(payload) });
      };
      const body = makeRequest('first one', { vaultPassword: planted['vaultPassword'], vaultUri: endpoints.vaultUri });
      const problem = await server.problem(500, 'POST', '/bootstraps', { body });
      expect(Object.keys(problem)).to.have.members(['type', 'title', 'status', 'code', 'detail', 'instance']);
      expect(server.logged.some((line) => line.includes(String(problem.instance)))).to.equal(true);
      expectNone([JSON.stringify(problem), ...server.logged].join('\n'));
    });
  });

  describe('GET /problems/{code}', () => {
    it('explains every problem, to anybody', async () => {
      for (const code of Object.keys(problemKinds) as ProblemCode[]) {
        const reply = await server.fetch('GET', `/problems/${code}`, { as: null });
        expect(reply.status).to.equal(200);
        expect(reply.headers.get('content-type')).to.contain('text/html');
        expect(await reply.text()).to.contain(`<code>${code}</code>`);
      }
      await server.problem(400, 'GET', '/problems/none', { as: null });
    });
  });

  it('knows every option that travels', () => {
    expect(optionNames.map(flagName)).to.have.lengthOf(Object.keys(flags).length);
  });
});
