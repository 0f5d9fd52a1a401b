/** A domain beneath a shared zone: a zone of the project's own, delegated to by one record set of the shared one. */
import { expect } from 'chai';
import { apexRecords } from '../../local/cloud/dns/records.js';
import { zones } from '../../local/cloud/dns/zone.js';
import { serverSets } from '../../local/cloud/dns/zones.js';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, domainOf, failedWith, makeScene, refusedWith, type Scene, succeeded } from '../support/scene.js';
import {
  askDns,
  changeShared,
  inSharedZone,
  type RecordSet,
  sharedRecords,
  sharedZone,
} from '../support/shared-zone.js';

const { project, name: zone } = local.standingZone;
const name = 'beneath';
const domain = domainOf(name);

describe('a domain beneath a shared zone', function () {
  this.timeout(240_000);
  let scene: Scene;
  before(async () => {
    scene = await makeScene();
    await lifeOf(scene).pause();
  });
  after(() => scene?.close());

  const change = (change: Parameters<typeof changeShared>[1]) => changeShared(scene, change);
  const shared = () => sharedRecords(scene, name);
  const policy = () => JSON.stringify(scene.cloud.world.policies.get(sharedZone, 3));
  const begin = async () => (await scene.caller()).bootstrap(name, inSharedZone);

  async function expectDelegated(view: BootstrapView): Promise<void> {
    await scene.expectAll(view, { dnsZone: zone });
    const { nameServers } = await askDns(scene, `projects/${view.projectId}/managedZones/${zone}`);
    expect(await shared()).to.deep.equal([
      { kind: 'dns#resourceRecordSet', name: `${domain}.`, type: 'NS', ttl: 300, rrdatas: nameServers },
    ]);
    expect(policy()).not.to.contain(view.projectId);
    expect(view.result.dns).to.deep.include({
      project: view.projectId,
      zone,
      nameServers,
      parent: { project, zone },
    });
  }

  it('is not delegated over names that others have there, nor taken from others that it is delegated to', async () => {
    const address = { name: `www.${domain}.`, type: 'A', ttl: 60, rrdatas: ['203.0.113.20'] };
    const servers = { name: `${domain}.`, type: 'NS', ttl: 60, rrdatas: ['ns1.elsewhere.example.'] };
    for (const [theirs, ...words] of [
      [address, address.name, '203.0.113.20', 'same command'],
      [servers, 'ns1.elsewhere.example.'],
    ] as const) {
      await change({ additions: [theirs] });
      refusedWith(await begin(), 'cloud-conflict', ...words);
      expect(await shared()).to.deep.equal([{ kind: 'dns#resourceRecordSet', ...theirs }]);
      await change({ deletions: [theirs] });
    }
  });

  describe('once it is made', () => {
    let alice: Caller;
    let view: BootstrapView;
    before(async () => {
      alice = await scene.caller();
      view = succeeded(await alice.bootstrap(name, inSharedZone));
    });

    it('has a zone of its own, which alone the nodes may change; the shared one holds one record set', async () => {
      await expectDelegated(view);
      expect(alice.read('config.yaml')).to.match(
        new RegExp(`cloudDns:\\s+project: ${view.projectId}\\s+zone: ${zone}\\s`),
      );
      expect((await alice.plinth('status', name)).stdout).to.match(
        /delegated by +the zone standing in standing-dns-local/,
      );
    });

    it('is delegated anew where its zone was made anew', async () => {
      const [set] = (await shared()) as [RecordSet];
      const old = { ...set, rrdatas: ['ns-cloud-z1.googledomains.com.'] };
      await change({ additions: [old], deletions: [set] });
      failedWith(await alice.bootstrap(name, inSharedZone), 'delegation', 'ns-cloud-z1.googledomains.com.');
      await change({ deletions: [old] });
      await expectDelegated(succeeded(await alice.bootstrap(name, inSharedZone)));
    });

    describe('is told by status as delegated or not', () => {
      let ours: RecordSet;
      /** Name servers of Cloud DNS that serve neither the domain nor the zone above it. */
      let elsewhere: readonly string[];
      before(async () => {
        [ours] = (await shared()) as [RecordSet];
        // Five sets of name servers serve all zones. Where both zones are served by one, it answers for the inner one by itself.
        const [ofShared, ofNeither] = serverSets.filter(([first]) => !ours.rrdatas.includes(first ?? ''));
        const above = zones(scene.cloud.world)[sharedZone];
        if (above === undefined || ofShared === undefined || ofNeither === undefined) throw new Error('no shared zone');
        above.resource['nameServers'] = [...ofShared];
        Object.assign(above.records, apexRecords('example.com.', ofShared));
        elsewhere = ofNeither.slice(0, 2);
      });

      const run = (env: Readonly<Record<string, string>>, ...args: string[]) =>
        runAt(['beta', 'bootstrap-cloud', 'status', name, ...args], {
          folder: alice.folder,
          env: { ...alice.env, ...env },
        });

      /** The line for people, and what `--json` has. Neither is an error. */
      async function told(env: Readonly<Record<string, string>> = {}) {
        const [shown, json] = [await run(env), await run(env, '--json')];
        expect([shown.exitCode, json.exitCode], shown.stderr + json.stderr).to.deep.equal([0, 0]);
        const [, line] = /^ {2}delegated {2,}(.+)$/m.exec(shown.stdout) ?? [];
        return { line, delegation: (JSON.parse(json.stdout) as { delegation: object }).delegation };
      }

      /** While the shared zone has these name servers for the domain; none: no record set at all. */
      async function delegatedTo(...rrdatas: string[]) {
        const others = rrdatas.length === 0 ? [] : [{ ...ours, rrdatas }];
        await change({ additions: others, deletions: [ours] });
        try {
          return await told();
        } finally {
          await change({ additions: [ours], deletions: others });
        }
      }

      it('yes where it leads to its own zone', async () => {
        expect(await told()).to.deep.equal({ line: 'yes', delegation: { state: 'delegated' } });
      });

      it('no where the zone above serves the domain itself, with what to delegate', async () => {
        const { line, delegation } = await delegatedTo();
        expect(line).to.match(
          /^no: example\.com is served by ns-cloud-\S+.*; delegate the base domain to the name servers above$/,
        );
        expect(delegation).to.deep.include({ state: 'elsewhere', domain: 'example.com' });
      });

      for (const [whose, servers] of [
        ['nobody', () => ['ns1.elsewhere.example.']],
        ['another zone of Cloud DNS', () => elsewhere],
      ] as const) {
        it(`no where it leads to name servers of ${whose}`, async () => {
          expect(await delegatedTo(...servers())).to.deep.equal({
            line: `no: ${domain} is delegated to name servers that do not serve it; delegate the base domain to the name servers above`,
            delegation: { state: 'lame', domain },
          });
        });
      }

      it('not known where the resolver cannot be reached, and names the setting', async () => {
        const { line, delegation } = await told({ PLINTH_DNS_RESOLVER: '127.0.0.1:9' });
        expect(line).to.equal(
          'not known: the DNS does not answer (ECONNREFUSED); PLINTH_DNS_RESOLVER names another resolver',
        );
        expect(delegation).to.deep.equal({ state: 'unknown', why: 'the DNS does not answer (ECONNREFUSED)' });
      });

      it('not at all by a resolver that is no address', async () => {
        const { exitCode, stderr } = await run({ PLINTH_DNS_RESOLVER: 'dns.example.com' });
        expect(exitCode, stderr).to.equal(2);
        expect(stderr).to.include(
          'PLINTH_DNS_RESOLVER must be an IP address, with a port or without, as 192.0.2.53:53',
        );
      });
    });
  });
});
