/** Secrets that rules between flags ask for, and that a request leaves out: plinth still has them, of a lost record too. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeOf } from '../../local/demo/plinth-process.js';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { local, people as stackPeople } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { collections } from '../../shared/names.js';
import type { ProblemBody } from '../../shared/problems.js';
import { type People, peopleOf } from '../support/people.js';
import { type Caller, clientSecret, domainOf, makeScene, type Scene, succeeded } from '../support/scene.js';

const { alice } = stackPeople;
const team = {
  'registry-type': 'artifact-registry',
  'forge1-team-org': 'example',
  'forge1-team-slug': 'platform',
} as const;

describe('a secret that is not given again', function () {
  this.timeout(120_000);
  let scene: Scene;
  let people: People;
  let caller: Caller;
  let made: BootstrapView;

  before(async () => {
    scene = await makeScene();
    people = peopleOf(scene);
    caller = await scene.caller();
    made = succeeded(await caller.bootstrap('kept', { ...team, 'forge1-pat': forge1Pat, 'registry-user': undefined }));
  });
  after(() => scene?.close());

  const ask = (name: string, takeUp?: string) =>
    people.ask<BeginReply & ProblemBody>(alice, 'POST', '/bootstraps', {
      options: {
        projectName: name,
        billingAccount: local.billingAccount,
        baseDomain: domainOf(name),
        forge1AppClientId: 'client-id',
        forge1AppClientSecret: clientSecret,
        registryType: 'artifact-registry',
        forge1TeamOrg: 'example',
        forge1TeamSlug: 'platform',
      },
      sshPublicKey: readFileSync(
        join(homeOf(caller.folder), '.config', 'plinth', 'ssh', 'id_ed25519.pub'),
        'utf8',
      ).trim(),
      ...(takeUp !== undefined && { takeUp }),
    });

  it('is required of a new bootstrap', async () => {
    const { status, body } = await ask('newer');
    expect([status, body.errors?.map(({ path }) => path)]).to.deep.equal([400, ['--forge1-pat']]);
  });

  it('is kept by a resume', async () => {
    const { status, body } = await ask('kept');
    expect([status, body.changes], JSON.stringify(body)).to.deep.equal([200, []]);
    await scene.stack.settle();
  });

  it('comes from Secret Manager once the record is lost', async () => {
    const { store } = scene.stack.functionsHalf ?? {};
    await store?.commit([{ kind: 'delete', collection: collections.bootstraps, id: made.id }]);
    const { status, body } = await ask('kept', made.id);
    expect(status, JSON.stringify(body)).to.equal(200);
    await scene.stack.settle();
    const view = await scene.view(made.id);
    expect(view.state).to.equal('succeeded');
    expect((await ask('kept')).body.changes).to.deep.equal([]);
  });
});
