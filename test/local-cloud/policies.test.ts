/** Policies as they are read and written: etags, masks and audit configurations. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { owner, project, type ReadyCloud, readyCloud } from './ready-cloud.js';
import { invalid, itRefuses, refusalsOf } from './refusals.js';

const bindings = [{ role: 'roles/viewer', members: [`user:${owner}`] }];
const auditConfigs = [{ service: 'allServices', auditLogConfigs: [{ logType: 'DATA_READ' }] }];

describe('policies in the simulated cloud', () => {
  let cloud: ReadyCloud;
  beforeEach(async () => {
    cloud = await readyCloud();
  });
  afterEach(() => cloud.close());

  const line = `POST /v3/projects/${project}`;
  const read = async () => (await cloud.call('cloudresourcemanager', `${line}:getIamPolicy`, {})).body;
  const write = (policy: JsonObject, updateMask?: string) =>
    cloud.call('cloudresourcemanager', `${line}:setIamPolicy`, {
      policy,
      ...(updateMask === undefined ? {} : { updateMask }),
    });

  it('take an etag in either alphabet of base64, with padding or without', async () => {
    for (let i = 0; i < 40; i += 1) {
      const etag = String((await write({ bindings })).body['etag']);
      const other = i % 2 === 0 ? etag.replaceAll('+', '-').replaceAll('/', '_') : etag.replace(/=+$/, '');
      expect((await write({ bindings, etag: other })).status, `${etag} as ${other}`).to.equal(200);
    }
  });

  it('have etags of eight bytes', async () => {
    const { etag } = (await write({ bindings })).body;
    expect(String(etag)).to.match(/^Bw[A-Za-z0-9+/]{9}=$/);
  });

  it('refuse an etag of other bytes', async () => {
    await write({ bindings });
    expect(await write({ bindings, etag: 'BwXhqDVVjtU=' })).to.include({ status: 409, reason: 'ABORTED' });
  });

  it('keep audit configurations, which only a mask that names them changes', async () => {
    await write({ bindings, auditConfigs });
    expect(await read()).not.to.have.property('auditConfigs');
    await write({ bindings, auditConfigs }, 'bindings,etag,auditConfigs');
    expect((await read())['auditConfigs']).to.deep.equal(auditConfigs);
    await write({ bindings });
    expect((await read())['auditConfigs']).to.deep.equal(auditConfigs);
    await write({ bindings }, 'bindings,etag,auditConfigs');
    expect(await read()).not.to.have.property('auditConfigs');
  });

  it('keep their bindings under a mask that does not name them', async () => {
    await write({ bindings });
    await write({ auditConfigs }, 'auditConfigs,etag');
    expect(await read()).to.deep.include({ bindings, auditConfigs });
  });

  const refused = refusalsOf('cloudresourcemanager');
  itRefuses(
    () => cloud,
    [
      refused(
        'a mask of what a policy does not have',
        `${line}:setIamPolicy`,
        { policy: { bindings }, updateMask: 'bindings,owner' },
        ...invalid,
      ),
    ],
  );
});
