/** Each API of the simulated cloud has one row, and the row makes it whole. */
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { apiDefinitions, apis } from '../../local/cloud/apis.js';
import { gcloudEnvironment } from '../../local/cloud/gcloud.js';
import type { SimulatedApi } from '../../local/cloud/kernel/api.js';
import { type Method, surfaceOf } from '../../local/cloud/kernel/surface.js';
import { owner, project, type ReadyCloud, readyCloud } from './ready-cloud.js';

const hosts = Object.keys(apis) as SimulatedApi[];

/** Read by tests of the deployment alone. */
const unserved = ['cloudbuild.v1'];

/** A path that the method has. */
const pathOf = ({ path, parameters = {} }: Method): string =>
  path.replaceAll(/\{\+?([^}]+)\}/g, (_, name: string) =>
    (parameters[name]?.pattern ?? 'x').replaceAll(/\[\^\/\]\+|\.\*/g, 'x').replaceAll(/[\^$]/g, ''),
  );

describe('each API of the simulated cloud', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
  });
  after(() => cloud.close());

  it('has a document of its surface, and each document an API', () => {
    const documents = readdirSync('local/cloud/discovery')
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.replace(/\.json$/, ''));
    expect(documents).to.have.members([...apiDefinitions.map(({ api }) => api), ...unserved]);
  });

  it('is told to gcloud', () => {
    const environment = gcloudEnvironment({ frontUrl: 'http://front', accessToken: 'token', configFolder: '/folder' });
    const told = hosts.filter((api) => `CLOUDSDK_API_ENDPOINT_OVERRIDES_${api.toUpperCase()}` in environment);
    expect(told).to.have.members(hosts);
  });

  for (const host of hosts) {
    for (const { api, handlers, access = {} } of apis[host].versions) {
      it(`${api} serves methods that its surface has, under its own host`, () => {
        const surface = surfaceOf(api);
        expect(surface.host).to.equal(`${host}.googleapis.com`);
        for (const method of [...Object.keys(handlers), ...Object.keys(access)]) {
          expect(surface.methods.has(method), method).to.equal(true);
        }
      });

      it(`${api} answers on its own port, and behind the front`, async () => {
        const { base, methods } = surfaceOf(api);
        const [id = ''] = Object.keys(handlers);
        const method = methods.get(id) ?? expect.fail(`no method ${id}`);
        const path = base + pathOf(method);
        const roots = [cloud.endpoints[host], `${cloud.frontUrl}/${host}.googleapis.com`];
        for (const root of roots) {
          const { status, headers } = await fetch(root + path, { method: method.httpMethod });
          expect(status, root + path).to.equal(401);
          expect(headers.get('content-type')).to.contain('application/json');
        }
      });
    }

    it(`${host} can be enabled, and is known by its title`, async () => {
      const name = `projects/${project}/services/${host}.googleapis.com`;
      const enabled = await cloud.call('serviceusage', `POST /v1/${name}:enable`, {});
      expect(enabled.status, enabled.message).to.equal(200);
      const { body } = await cloud.call('serviceusage', `GET /v1/${name}`, undefined, { as: owner });
      expect(body['state']).to.equal('ENABLED');
      expect(body['config']).to.have.property('title', apis[host].title);
    });
  }
});
