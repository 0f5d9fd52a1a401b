/** The front end before the functions that are not public: internal ingress, and `roles/run.invoker`. */
import { expect } from 'chai';
import { functionAccount, functionUrl, invokers, people } from '../../local/stack/deployment.js';
import { schedulerHeaders } from '../../local/stack/front-end.js';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { makeScene, type Scene } from '../support/scene.js';

describe('the simulated front end', function () {
  this.timeout(60_000);
  let scene: Scene;
  before(async () => {
    scene = await makeScene();
  });
  after(() => scene?.close());

  const bootstraps = functionAccount(functionNames.bootstraps);
  const asked = async (name: FunctionName, headers: Record<string, string>): Promise<number> => {
    const body = JSON.stringify({ codes: [], owner: '', ownerMember: '', projectId: '', options: {} });
    const sent = { 'content-type': 'application/json', ...headers };
    const url = functionUrl(scene.stack.url, name);
    return (await fetch(url, { method: 'POST', headers: sent, body })).status;
  };
  const bearer = async (email: string, audience = functionUrl(scene.stack.url, functionNames.check)) =>
    `Bearer ${await scene.cloud.identity.idToken({ email, audience })}`;

  it('lets bootstraps call check from anywhere, and nobody else', async () => {
    const { check } = functionNames;
    expect(await asked(check, {})).to.equal(403);
    for (const email of [people.admin, functionAccount(functionNames.runCloudStep), invokers.scheduler]) {
      expect(await asked(check, { authorization: await bearer(email) }), email).to.equal(403);
    }
    const elsewhere = await bearer(bootstraps, functionUrl(scene.stack.url, functionNames.sweep));
    expect(await asked(check, { authorization: elsewhere })).to.equal(401);
    expect(await asked(check, { authorization: await bearer(bootstraps) })).to.equal(200);
  });

  it('takes the token that is meant for it, and leaves the other for the function', async () => {
    const own = await bearer(bootstraps);
    const { check } = functionNames;
    expect(await asked(check, { 'x-serverless-authorization': own, authorization: own })).to.equal(200);
    expect(await asked(check, { 'x-serverless-authorization': own })).to.equal(401);
  });

  it('lets only Google’s own services call the functions with internal ingress', async () => {
    const url = functionUrl(scene.stack.url, functionNames.sweep);
    const { 'user-agent': _, ...fromOutside } = await schedulerHeaders(scene.cloud.identity, url);
    expect(await asked(functionNames.sweep, fromOutside)).to.equal(404);
    expect(await asked(functionNames.sweep, await schedulerHeaders(scene.cloud.identity, url))).to.equal(200);
    for (const name of [functionNames.runCloudStep, functionNames.runHostStep, functionNames.cleanup]) {
      expect(await asked(name, { authorization: await bearer(bootstraps) }), name).to.equal(404);
    }
  });
});
