/** What `status` tells of a base domain whose delegation somebody changed, and where the DNS does not answer. */
import { expect } from 'chai';
import { apexRecords } from '../../local/cloud/dns/records.js';
import { zones } from '../../local/cloud/dns/zone.js';
import { serverSets } from '../../local/cloud/dns/zones.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, domainOf, makeScene, type Scene, succeeded } from '../support/scene.js';
import { changeShared, inSharedZone, type RecordSet, sharedRecords, sharedZone } from '../support/shared-zone.js';

const name = 'told';
const domain = domainOf(name);

describe('the delegation of a base domain, as status tells it', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  let ours: RecordSet;
  /** Name servers of Cloud DNS that serve neither the domain nor the zone above it. */
  let elsewhere: readonly string[];
  before(async () => {
    scene = await makeScene();
    alice = await scene.caller();
    succeeded(await alice.bootstrap(name, inSharedZone));
    [ours] = (await sharedRecords(scene, name)) as [RecordSet];
    // Five sets of name servers serve all zones. Where both zones are served by one, it answers for the inner one by itself.
    const [ofShared, ofNeither] = serverSets.filter(([first]) => !ours.rrdatas.includes(first ?? ''));
    const shared = zones(scene.cloud.world)[sharedZone];
    if (shared === undefined || ofShared === undefined || ofNeither === undefined) throw new Error('no shared zone');
    shared.resource['nameServers'] = [...ofShared];
    Object.assign(shared.records, apexRecords('example.com.', ofShared));
    elsewhere = ofNeither.slice(0, 2);
  });
  after(() => scene?.close());

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
    await changeShared(scene, { additions: others, deletions: [ours] });
    try {
      return await told();
    } finally {
      await changeShared(scene, { additions: [ours], deletions: others });
    }
  }

  it('is yes where it leads to its own zone', async () => {
    expect(await told()).to.deep.equal({ line: 'yes', delegation: { state: 'delegated' } });
  });

  it('is no where the zone above serves the domain itself, with what to delegate', async () => {
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
    it(`is no where it leads to name servers of ${whose}`, async () => {
      expect(await delegatedTo(...servers())).to.deep.equal({
        line: `no: ${domain} is delegated to name servers that do not serve it; delegate the base domain to the name servers above`,
        delegation: { state: 'lame', domain },
      });
    });
  }

  it('is not known where the resolver cannot be reached, and names the setting', async () => {
    const { line, delegation } = await told({ PLINTH_DNS_RESOLVER: '127.0.0.1:9' });
    expect(line).to.equal(
      'not known: the DNS does not answer (ECONNREFUSED); PLINTH_DNS_RESOLVER names another resolver',
    );
    expect(delegation).to.deep.equal({ state: 'unknown', why: 'the DNS does not answer (ECONNREFUSED)' });
  });

  it('is not looked at by a resolver that is no address', async () => {
    const { exitCode, stderr } = await run({ PLINTH_DNS_RESOLVER: 'dns.example.com' });
    expect(exitCode, stderr).to.equal(2);
    expect(stderr).to.include('PLINTH_DNS_RESOLVER must be an IP address, with a port or without, as 192.0.2.53:53');
  });
});
