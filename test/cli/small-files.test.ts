/** Small files that people write by hand or with another program: what they mean is kept, and what is wrong has a name. */
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { bySops } from '../install-config/by-sops.js';
import { bootstrap, five, type Sandbox } from './run-cli.js';
import { json, planReply, type Service } from './service.js';
import { useService } from './use-service.js';

describe('a small file', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });

  it('of people holds addresses with a #, and comments', async () => {
    sandbox.write('people', '\uFEFF# the team\nann#dev@example.com\nbob@example.com # again\nann#dev@example.com #x\n');
    const { code, stderr } = await sandbox.run(['org', 'invite', 'acme', '--file', 'people']);
    expect(code, stderr).to.equal(2);
    expect(stderr).to.include('people:4 names ann#dev@example.com again, after people:2').and.not.include('people:3');
  });

  it('that holds a plan is applied with a byte order mark, as editors add it', async () => {
    const { plan } = planReply();
    writeFileSync(sandbox.path('plan.json'), `\uFEFF${JSON.stringify(plan, undefined, 2)}\r\n`);
    const { code, stderr } = await sandbox.run([...bootstrap, ...five, '--apply', 'plan.json']);
    expect(code, stderr).to.equal(0);
    expect(service.request().plan).to.equal(plan.hash);
  });

  it('that was read into a variable loses its last line break, as one that is named', async () => {
    const lines = [
      ...five.slice(0, 4).map((each) => each.slice(2).replace('=', ': ')),
      'forge1-app-client-secret: {env: APP_SECRET}',
      'vault-password: {file: secret.txt}',
    ];
    sandbox.write('plinth.yaml', `${lines.join('\n')}\n`);
    sandbox.write('secret.txt', 'from a file\r\n');
    service.standing = true;
    const env = { APP_SECRET: 'from a variable\r\n', PLINTH_FORGE1_PAT: 'from its own\n' };
    service.instead.set('POST /bootstraps', [(response) => json(response, 200, planReply())]);
    const args = ['--registry-user=me', '--vault-uri=https://vault.example.com', '--write-config=false'];
    const { code, stderr } = await sandbox.run(['up', '--yes', ...args], env);
    expect(code, stderr).to.equal(0);
    expect(service.request().options).to.include({
      forge1AppClientSecret: 'from a variable',
      forge1Pat: 'from its own',
      vaultPassword: 'from a file',
    });
  });

  it('of secrets with two documents is refused as that', async () => {
    sandbox.write('prod.vault.yaml', bySops('two-documents'));
    const { code, stderr } = await sandbox.run([...bootstrap, ...five]);
    expect(code, stderr).to.equal(2);
    expect(stderr)
      .to.include('prod.vault.yaml cannot be read: it holds more than one document (the second begins at line 21)')
      .and.not.include('cut short');
  });
});
