/** The shared zone of the local stack, asked as its administrator. */
import { expect } from 'chai';
import { local, people } from '../../local/stack/deployment.js';
import { domainOf, type Scene } from './scene.js';

/** Whose cloud it is: a scene, or a lab. */
type At = Pick<Scene, 'cloud'>;

export interface RecordSet {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly rrdatas: readonly string[];
}

const { project, name: zone } = local.standingZone;

/** The flags of a bootstrap beneath it. */
export const inSharedZone = { 'dns-project-id': project, 'dns-zone-name': zone };
export const sharedZone = `projects/${project}/managedZones/${zone}`;

/** `path` is beneath the API's version. With a body it is a POST. */
export async function askDns(at: At, path: string, body?: object): Promise<Record<string, unknown>> {
  const reply = await fetch(`${at.cloud.endpoints.dns}/dns/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${at.cloud.identity.accessToken(people.admin)}`,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await reply.json()) as Record<string, unknown>;
  expect(reply.status, JSON.stringify(answer)).to.equal(200);
  return answer;
}

export const changeShared = (
  at: At,
  change: { readonly additions?: readonly RecordSet[]; readonly deletions?: readonly RecordSet[] },
) => askDns(at, `${sharedZone}/changes`, change);

/** What the shared zone holds at or beneath the domain of a bootstrap. */
export async function sharedRecords(at: At, name: string): Promise<RecordSet[]> {
  const { rrsets } = (await askDns(at, `${sharedZone}/rrsets`)) as unknown as { rrsets: RecordSet[] };
  return rrsets.filter((each) => `.${each.name}`.endsWith(`.${domainOf(name)}.`));
}
