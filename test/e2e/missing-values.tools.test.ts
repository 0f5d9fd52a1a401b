/** An install that lacks values which only a person can give: it stops before it begins, says what goes where, and continues once they are filled in. */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { realClock } from '../../functions/host/clock.js';
import { realRandom } from '../../functions/host/random.js';
import { sopsMeans } from '../../functions/steps/config/sops-means.js';
import { writeInstallConfig } from '../../shared/install-config/config.js';
import { encryptSecrets, fieldSecret } from '../../shared/install-config/secrets.js';
import { sopsRecipients } from '../../shared/install-config/sops.js';
import { makeShellPackage } from '../package/jumpbox.js';
import { needMachines } from '../support/machines.js';
import { type Caller, failedWith, makeScene, refusedWith, type Scene, succeeded } from '../support/scene.js';

describe('an install with a PostgreSQL server of the caller’s own', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  let flags: Record<string, string>;

  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
    const file = join(alice.folder, 'package.tar.gz');
    await makeShellPackage(file, { only: 'cat > /dev/null' });
    flags = { 'custom-pg-ip': '10.99.0.7', 'install-local': file };
  });
  after(() => scene?.close());

  it('is refused before the first run, which writes the files without it', async () => {
    refusedWith(await alice.bootstrap('own-pg', flags), 'bad-input', '--custom-pg-ip and --install-local');
    succeeded(await alice.bootstrap('own-pg', { 'custom-pg-ip': flags['custom-pg-ip'] }));
    expect(alice.config().postgres).to.deep.include({ mode: 'external' });
  });

  it('stops before it begins while nothing is filled in, naming files and keys', async () => {
    const outcome = await alice.bootstrap('own-pg', flags);
    failedWith(
      outcome,
      'install-values:dc1',
      ...['config.yaml', 'postgres.caCertPem', 'prod.vault.yaml', 'postgresPassword', 'run the same command again'],
    );
    const begun = outcome.result.bootstrap?.instances.filter(({ state }) => state !== 'waiting').map(({ id }) => id);
    expect(begun).to.include('handover:dc1');
    expect(begun?.filter((id) => /^(?:package|k0s|install:)/.test(id))).to.deep.equal([]);
  });

  it('stops at once when only one of two is filled in', async () => {
    const config = alice.config();
    const { certPem } = config.cluster.certificates.ca;
    const filled = { ...config, postgres: { ...config.postgres, caCertPem: certPem } };
    writeFileSync(join(alice.folder, 'config.yaml'), writeInstallConfig(filled));
    const outcome = await alice.bootstrap('own-pg', flags);
    failedWith(outcome, 'install-values:dc1', 'postgresPassword in prod.vault.yaml');
    expect(outcome.result.problem?.detail).not.to.include('caCertPem');
  });

  it('goes on by the same command when all is filled in', async () => {
    const path = join(alice.folder, 'prod.vault.yaml');
    const { secrets } = await alice.secrets();
    const [recipient = ''] = sopsRecipients(alice.read('prod.vault.yaml'));
    const filled = { version: 1 as const, secrets: [...secrets, fieldSecret('postgresPassword', 'theirs')] };
    const text = await encryptSecrets(filled, recipient, sopsMeans({ clock: realClock, random: realRandom }));
    rmSync(path);
    writeFileSync(path, text, { mode: 0o600 });
    const view = succeeded(await alice.bootstrap('own-pg', flags));
    expect(view.instances.find(({ id }) => id === 'install:dc1')?.state).to.equal('done');
  });
});
