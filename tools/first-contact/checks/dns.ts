/** Zones, their records and their delegation, in Cloud DNS and at the name servers. */
import type { RecordSet } from '../../../functions/cloud/dns.js';
import { type Bench, type Check, differs, held, heldIf, unknown } from '../check.js';
import { Untried } from '../untried.js';

const zone = 'first-contact';
const second = 'first-contact-second';

const nameOf = ({ delegation, project }: Bench): string => `${project}.${delegation?.domain ?? 'example.org'}.`;
const zonesOf = ({ project }: Bench, rest = ''): string => `/dns/v1/projects/${project}/managedZones${rest}`;

const record = (bench: Bench, more: Partial<RecordSet> = {}): RecordSet => ({
  name: `cs.${nameOf(bench)}`,
  type: 'A',
  ttl: 300,
  rrdatas: ['192.0.2.1'],
  ...more,
});

/** The set in the zone above. */
function nsOf(bench: Bench) {
  const { delegation } = bench;
  if (delegation === undefined) throw new Untried('no --dns-project, --dns-zone and --domain were given');
  const servers = bench.fact('servers').split(' ');
  return { delegation, set: { name: nameOf(bench), type: 'NS', ttl: 300, rrdatas: servers } };
}

/** Whether the servers of the zone above refer to the zone. */
async function refers(bench: Bench, isTo: boolean): Promise<string | undefined> {
  const { delegation } = nsOf(bench);
  const above = (await bench.cloud.dns.zone(delegation.project, delegation.zone))?.nameServers ?? [];
  // They hold the zone itself, and answer from it.
  if (above.some((each) => bench.fact('servers').split(' ').includes(each))) {
    throw new Untried('both zones are on the same name servers, which never refer to themselves');
  }
  const found = await bench.until(600, async () =>
    (await bench.cloud.nameServers.refer(nameOf(bench), above)) === isTo ? true : undefined,
  );
  return found === undefined ? undefined : `${found.seconds} s after the call`;
}

export const dnsChecks: readonly Check[] = [
  {
    id: 'dns.zone',
    believes: 'A public zone comes with four name servers in the first reply.',
    source: 'documented',
    makes: 'a zone',
    costs: ['zone'],
    needs: ['services.each-api'],
    async run(bench) {
      bench.undo('the zone', (last) => last.ask('dns', `DELETE ${zonesOf(last, `/${zone}`)}`));
      const made = await bench.cloud.dns
        .createZone(bench.project, zone, nameOf(bench), 'First contact')
        .catch((error: unknown) => {
          if (bench.delegation !== undefined) throw error;
          throw new Untried(`a domain of yours is needed, by --domain: ${(error as Error).message}`);
        });
      bench.facts.set('servers', (made.nameServers ?? []).join(' '));
      return heldIf(made.nameServers?.length === 4, `${made.nameServers?.join(' ')}`);
    },
  },
  {
    id: 'dns.second-zone',
    believes: 'A second zone of the same name gets another set of name servers.',
    source: 'reported',
    makes: 'a second zone',
    costs: ['zone'],
    needs: ['dns.zone'],
    async run(bench) {
      const made = await bench.cloud.dns.createZone(bench.project, second, nameOf(bench), 'First contact');
      await bench.ask('dns', `DELETE ${zonesOf(bench, `/${second}`)}`);
      const first = bench.fact('servers').split(' ');
      const shared = (made.nameServers ?? []).filter((server) => first.includes(server));
      return heldIf(shared.length === 0, `${made.nameServers?.join(' ')}`);
    },
  },
  {
    id: 'dns.change',
    believes: 'A change is pending in the first reply, and done within a minute.',
    source: 'documented',
    needs: ['dns.zone'],
    async run(bench) {
      const { cloud, project } = bench;
      const change = await cloud.dns.change(project, zone, { additions: [record(bench)], deletions: [] });
      bench.undo('its record', (last) =>
        last.cloud.dns.change(project, zone, { additions: [], deletions: [record(last)] }),
      );
      const done = await bench.until(120, async () => {
        const changes = await cloud.dns.changes(project, zone);
        return changes.find(({ id }) => id === change.id)?.status === 'done' ? true : undefined;
      });
      if (done === undefined) return differs('pending after two minutes');
      return heldIf(
        change.status === 'pending' && done.seconds <= 60,
        `${change.status}, done after ${done.seconds} s`,
      );
    },
  },
  {
    id: 'dns.exists',
    believes: 'Adding a record set that is there answers 409 alreadyExists.',
    source: 'documented',
    needs: ['dns.change'],
    async run(bench) {
      const { status, reasons } = await bench.ask('dns', `POST ${zonesOf(bench, `/${zone}/changes`)}`, {
        additions: [record(bench)],
      });
      return heldIf(status === 409 && reasons.includes('alreadyExists'), `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'dns.mismatch',
    believes: 'Deleting a record set with another TTL answers 412 conditionNotMet.',
    source: 'documented',
    needs: ['dns.change'],
    async run(bench) {
      const { status, reasons } = await bench.ask('dns', `POST ${zonesOf(bench, `/${zone}/changes`)}`, {
        deletions: [record(bench, { ttl: 60 })],
      });
      return heldIf(status === 412 && reasons.includes('conditionNotMet'), `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'dns.not-empty',
    believes: 'A zone with records cannot be deleted: 400 containerNotEmpty.',
    source: 'documented',
    needs: ['dns.change'],
    async run(bench) {
      const { status, reasons } = await bench.ask('dns', `DELETE ${zonesOf(bench, `/${zone}`)}`);
      return heldIf(status === 400 && reasons.includes('containerNotEmpty'), `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'dns.page-token',
    believes: 'A page token that Cloud DNS did not give out answers 400.',
    source: 'reported',
    needs: ['dns.zone'],
    async run(bench) {
      const { status, reasons } = await bench.ask('dns', `GET ${zonesOf(bench, `/${zone}/rrsets`)}?pageToken=nonsense`);
      return heldIf(status === 400, `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'dns.strangers-zone',
    believes: "A zone of a stranger's project answers 403, as a project that is not there does.",
    source: 'believed',
    needs: ['services.each-api'],
    async run(bench) {
      const { status, reasons } = await bench.ask('dns', 'GET /dns/v1/projects/ubuntu-os-cloud/managedZones/some-zone');
      return heldIf(status === 403, `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'dns.delegation',
    believes: 'An NS set in the zone above is seen at its name servers within two minutes.',
    source: 'believed',
    makes: 'an NS set in the zone above',
    needs: ['dns.zone'],
    async run(bench) {
      const { delegation, set } = nsOf(bench);
      const { project, zone } = delegation;
      const undo = async ({ cloud: { dns }, until }: Bench): Promise<void> => {
        const standing = await dns.records(project, zone);
        if (!standing.some(({ name, type }) => name === set.name && type === 'NS')) return;
        const { id } = await dns.change(project, zone, { additions: [], deletions: [set] });
        // Its own zone goes after it.
        await until(120, async () =>
          (await dns.changes(project, zone)).some((each) => each.id === id && each.status === 'done')
            ? true
            : undefined,
        );
      };
      const byHand = `gcloud dns record-sets delete ${set.name} --type=NS --zone=${zone} --project=${project}`;
      bench.undo(`the NS set of ${set.name} in ${project}`, undo, byHand);
      await bench.cloud.dns.change(project, zone, { additions: [set], deletions: [] });
      const seen = await refers(bench, true);
      return seen === undefined ? differs('not seen after ten minutes') : held(seen);
    },
  },
  {
    id: 'dns.undelegation',
    believes: 'A deleted NS set is gone at the name servers within two minutes.',
    source: 'believed',
    needs: ['dns.delegation'],
    async run(bench) {
      const { delegation, set } = nsOf(bench);
      await bench.cloud.dns.change(delegation.project, delegation.zone, { additions: [], deletions: [set] });
      const seen = await refers(bench, false);
      return seen === undefined ? differs('still there after ten minutes') : held(seen);
    },
  },
  {
    id: 'dns.proof',
    believes: 'A domain that nobody has proven is refused with verifyManagedZoneDnsNameOwnership.',
    source: 'reported',
    needs: ['services.each-api'],
    async run(bench) {
      const reply = await bench.ask('dns', `POST ${zonesOf(bench)}`, {
        name: 'first-contact-stranger',
        dnsName: 'google.com.',
        description: 'First contact',
      });
      if (reply.status === 200) {
        await bench.ask('dns', `DELETE ${zonesOf(bench, '/first-contact-stranger')}`);
        return unknown('the zone was made: this cloud asks for no proof of it');
      }
      return heldIf(
        reply.reasons.includes('verifyManagedZoneDnsNameOwnership'),
        `${reply.status} ${reply.reasons.join(' ')}`,
      );
    },
  },
];
