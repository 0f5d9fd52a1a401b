/**
 * Secrets that rules between flags ask for, and that a request leaves out: plinth still has them, of a lost record too. And one
 * that is given, while the secrets file holds another value.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityToRecipient } from 'age-encryption';
import { expect } from 'chai';
import { ageIdentitiesIn, homeOf } from '../../local/demo/plinth-process.js';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { local, people as stackPeople } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { encryptSecrets, fieldSecret, findSecret } from '../../shared/install-config/secrets.js';
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

  const ask = (name: string, takeUp?: string, query = '') =>
    people.ask<BeginReply & ProblemBody>(alice, 'POST', `/bootstraps${query}`, {
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
    expect((await ask('kept', undefined, '?dryRun=true')).body.changes).to.deep.equal([]);
  });

  it('is named where the given one replaces another value in the secrets file', async () => {
    const flags = { ...team, 'registry-user': undefined, 'forge1-pat': forge1Pat } as const;
    await editClientSecret('edited-secret-0815');
    const again = await caller.bootstrap('kept', flags);
    succeeded(again);
    expect(again.result['warnings']).to.deep.equal([
      'prod.vault.yaml holds another value of --forge1-app-client-secret. The given one replaces it.',
    ]);
    expect(again.stdout + again.stderr).to.not.include('edited-secret-0815');
    const secrets = await caller.secrets();
    expect(findSecret(secrets, 'forge1AppClientSecret')?.fields?.password).to.equal(clientSecret);
    expect((await caller.bootstrap('kept', flags)).result['warnings']).to.deep.equal([]);
    const changed = await caller.bootstrap('kept', { ...flags, 'forge1-app-client-secret': 'changed-secret-0816' });
    expect(changed.result.changes?.map(({ option }) => option)).to.deep.equal(['--forge1-app-client-secret']);
    expect(changed.result['warnings']).to.deep.equal([]);
  });

  async function editClientSecret(password: string): Promise<void> {
    const [identity = ''] = ageIdentitiesIn(caller.folder);
    const { secrets } = await caller.secrets();
    const edited = secrets.map((each) =>
      each.name === 'forge1AppClientSecret' ? fieldSecret(each.name, password) : each,
    );
    const means = { now: new Date(), random: (size: number) => crypto.getRandomValues(new Uint8Array(size)) };
    const text = await encryptSecrets({ version: 1, secrets: edited }, await identityToRecipient(identity), means);
    writeFileSync(join(caller.folder, 'prod.vault.yaml'), text);
  }
});
