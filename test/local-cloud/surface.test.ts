import { expect } from 'chai';
import type { ApiName, GoogleError, Json, JsonObject } from '../../local/cloud/kernel/api.js';
import { faultsOfReply } from '../../local/cloud/kernel/reply-check.js';
import { checkBody, checkParams } from '../../local/cloud/kernel/request-check.js';
import { type Method, resourceIn, route, surfaceOf } from '../../local/cloud/kernel/surface.js';

const methodOf = (api: ApiName, id: string): Method => surfaceOf(api).methods.get(id) ?? expect.fail(`no method ${id}`);
const body = (api: ApiName, id: string, given: Json): JsonObject =>
  checkBody(surfaceOf(api), methodOf(api, id), JSON.stringify(given));
const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as GoogleError).message;
  }
  return expect.fail('it was not refused');
};

describe('the API surface', () => {
  describe('finds the method', () => {
    for (const [api, line, id, params] of [
      ['cloudresourcemanager.v3', 'GET /v3/projects/p', 'cloudresourcemanager.projects.get', { name: 'projects/p' }],
      ['cloudresourcemanager.v3', 'GET /v3/projects:search', 'cloudresourcemanager.projects.search', {}],
      [
        'cloudresourcemanager.v3',
        'POST /v3/projects/p:getIamPolicy',
        'cloudresourcemanager.projects.getIamPolicy',
        { resource: 'projects/p' },
      ],
      [
        'cloudresourcemanager.v1',
        'POST /v1/projects/p:undelete',
        'cloudresourcemanager.projects.undelete',
        { projectId: 'p' },
      ],
      [
        'cloudresourcemanager.v3',
        'GET /v3/operations/cp.12',
        'cloudresourcemanager.operations.get',
        { name: 'operations/cp.12' },
      ],
      [
        'secretmanager.v1',
        'GET /v1/projects/p/secrets/s/versions/1:access',
        'secretmanager.projects.secrets.versions.access',
        { name: 'projects/p/secrets/s/versions/1' },
      ],
      [
        'secretmanager.v1',
        'GET /v1/projects/p/secrets/s:getIamPolicy',
        'secretmanager.projects.secrets.getIamPolicy',
        { resource: 'projects/p/secrets/s' },
      ],
      [
        'iam.v1',
        'GET /v1/projects/p/serviceAccounts/a%40p.iam.gserviceaccount.com',
        'iam.projects.serviceAccounts.get',
        { name: 'projects/p/serviceAccounts/a@p.iam.gserviceaccount.com' },
      ],
      [
        'compute.v1',
        'GET /compute/v1/projects/p/zones/z/instances/i',
        'compute.instances.get',
        { project: 'p', zone: 'z', instance: 'i' },
      ],
      [
        'compute.v1',
        'GET /compute/v1/projects/p/aggregated/instances',
        'compute.instances.aggregatedList',
        { project: 'p' },
      ],
      [
        'dns.v1',
        'POST /dns/v1/projects/p/managedZones/z:setIamPolicy',
        'dns.managedZones.setIamPolicy',
        { resource: 'projects/p/managedZones/z' },
      ],
      [
        'serviceusage.v1',
        'POST /v1/projects/p/services:batchEnable',
        'serviceusage.services.batchEnable',
        { parent: 'projects/p' },
      ],
      [
        'pubsub.v1',
        'POST /v1/projects/p/topics/t:publish',
        'pubsub.projects.topics.publish',
        { topic: 'projects/p/topics/t' },
      ],
    ] as const) {
      it(`of ${line}`, () => {
        const [verb = '', path = ''] = line.split(' ');
        const found = route(surfaceOf(api), verb, path);
        expect(found?.method.id).to.equal(id);
        expect(found?.params).to.deep.equal(params);
      });
    }

    it('of every API, for each of its own paths', () => {
      for (const api of [
        'cloudresourcemanager.v1',
        'cloudresourcemanager.v3',
        'compute.v1',
        'dns.v1',
        'secretmanager.v1',
        'pubsub.v1',
        'artifactregistry.v1',
      ] as const) {
        const surface = surfaceOf(api);
        for (const { method } of surface.templates) {
          const flat = (method as Method & { flatPath: string }).flatPath.replaceAll(/\{[^}]+\}/g, 'x1');
          const path = api === 'compute.v1' ? `/compute/v1/${flat}` : `/${flat}`;
          expect(route(surface, method.httpMethod, path)?.method.id, `${method.httpMethod} ${path}`).to.equal(
            method.id,
          );
        }
      }
    });

    it('nowhere for a path or a verb that the API does not have', () => {
      expect(route(surfaceOf('cloudresourcemanager.v3'), 'PUT', '/v3/projects/p')).to.equal(undefined);
      expect(route(surfaceOf('cloudresourcemanager.v3'), 'GET', '/v3/projects/p/q')).to.equal(undefined);
      expect(route(surfaceOf('compute.v1'), 'GET', '/v1/projects/p/global/networks')).to.equal(undefined);
    });
  });

  it('names the resource in a path', () => {
    expect(resourceIn('/compute/v1/projects/p/zones/z/instances/i')).to.equal('projects/p/zones/z/instances/i');
    expect(resourceIn('/v1/projects/p/secrets/s:addVersion')).to.equal('projects/p/secrets/s');
    expect(resourceIn('/v3/operations/cp.1')).to.equal('');
  });

  describe('takes what clients really send', () => {
    const params = (api: ApiName, id: string, query: string, inPath: Record<string, string> = {}) =>
      checkParams(surfaceOf(api), methodOf(api, id), inPath, new URLSearchParams(query));

    it('snake_case names, path parameters again, standard parameters', () => {
      const given =
        'update_mask=labels&project.name=projects/p&name=projects/p&$alt=json;enum-encoding=int&prettyPrint=false';
      expect(
        params('cloudresourcemanager.v3', 'cloudresourcemanager.projects.patch', given, { name: 'projects/p' }).params,
      ).to.deep.equal({ name: 'projects/p', updateMask: 'labels' });
    });

    it('repeated parameters, as a list', () => {
      const { lists } = params('serviceusage.v1', 'serviceusage.services.batchGet', 'names=a&names=b', {
        parent: 'projects/p',
      });
      expect(lists).to.deep.equal({ names: ['a', 'b'] });
    });

    it('nulls, snake_case fields, numbers as text', () => {
      const made = body('dns.v1', 'dns.managedZones.create', {
        name: 'zone',
        dns_name: 'a.example.',
        visibility: 'public',
        labels: null,
      });
      expect(made).to.deep.equal({ name: 'zone', dnsName: 'a.example.', visibility: 'public' });
      expect(body('compute.v1', 'compute.networks.insert', { name: 'net', mtu: '1500' })).to.deep.equal({
        name: 'net',
        mtu: 1500,
      });
    });

    it('the empty text as an empty message', () => {
      const method = methodOf('cloudresourcemanager.v3', 'cloudresourcemanager.projects.undelete');
      expect(checkBody(surfaceOf('cloudresourcemanager.v3'), method, '""')).to.deep.equal({});
      expect(checkBody(surfaceOf('cloudresourcemanager.v3'), method, '')).to.deep.equal({});
    });

    it('and takes away what only Google writes, but for an etag', () => {
      const made = body('cloudresourcemanager.v3', 'cloudresourcemanager.projects.patch', {
        state: 'ACTIVE',
        name: 'projects/1',
        labels: {},
        etag: 'x',
      });
      expect(made).to.deep.equal({ labels: {}, etag: 'x' });
    });
  });

  describe('refuses in the words of each API', () => {
    for (const [what, work, message] of [
      [
        'a name that does not match',
        () => body('compute.v1', 'compute.networks.insert', { name: 'My_Net' }),
        "Invalid value for field 'resource.name': 'My_Net'. Must be a match of regex '[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?'",
      ],
      [
        'a field that is missing',
        () => body('compute.v1', 'compute.networks.insert', {}),
        "Required field 'resource.name' not specified",
      ],
      [
        'an enum of compute',
        () => body('compute.v1', 'compute.firewalls.insert', { name: 'rule', direction: 'SIDEWAYS' }),
        "Invalid value for field 'resource.direction': 'SIDEWAYS'.",
      ],
      [
        'a number out of range',
        () => body('compute.v1', 'compute.networks.insert', { name: 'net', mtu: 2 ** 40 }),
        `Invalid value at 'resource.mtu' (TYPE_INT32), ${2 ** 40}`,
      ],
      [
        'a field further in',
        () => body('compute.v1', 'compute.networks.insert', { name: 'net', routingConfig: { mode: 1 } }),
        `Invalid JSON payload received. Unknown name "mode" at 'resource.routingConfig': Cannot find field.`,
      ],
      [
        'a name of a prototype',
        () => body('compute.v1', 'compute.networks.insert', { name: 'net', constructor: 1 }),
        `Invalid JSON payload received. Unknown name "constructor" at 'resource': Cannot find field.`,
      ],
      [
        'a duration',
        () => body('secretmanager.v1', 'secretmanager.projects.secrets.create', { ttl: '1h' }),
        "Invalid value at 'secret.ttl' (type.googleapis.com/google.protobuf.Duration), (not shown)",
      ],
      [
        'bytes that are none',
        () => body('pubsub.v1', 'pubsub.projects.topics.publish', { messages: [{ data: '%' }] }),
        `Invalid value at 'messages[0].data' (TYPE_BYTES), Base64 decoding failed for "%"`,
      ],
    ] as const) {
      it(what, () => expect(refusal(work)).to.equal(message));
    }
  });

  describe('holds the replies to it', () => {
    const faults = (reply: Json) =>
      faultsOfReply(surfaceOf('compute.v1'), methodOf('compute.v1', 'compute.networks.get'), reply);
    it('nothing to say of a good one', () => {
      expect(
        faults({ kind: 'compute#network', id: '1', name: 'net', autoCreateSubnetworks: false, subnetworks: [] }),
      ).to.deep.equal([]);
    });
    for (const [what, reply, says] of [
      ['a field that there is not', { colour: 'red' }, 'Network.colour: no such field'],
      ['a number where int64 is text', { id: 1 }, 'Network.id: not a uint64 (1)'],
      [
        'a value that the enum does not have',
        { networkFirewallPolicyEnforcementOrder: 'LATER' },
        'Network.networkFirewallPolicyEnforcementOrder: not a string ("LATER")',
      ],
      ['null', { name: null }, 'Network.name: null (null)'],
      ['no list', { subnetworks: 'a' }, 'Network.subnetworks: not a list ("a")'],
    ] as const) {
      it(what, () => expect(faults(reply as unknown as Json)).to.deep.equal([says]));
    }
  });
});
