/** Advice that helps whoever reads it: it is about what is at fault, and of this install. */
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { bootstrap, five, type Sandbox } from './run-cli.js';
import { refuse, type Service } from './service.js';
import { useService } from './use-service.js';

describe('advice', function () {
  this.timeout(30_000);
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });
  const run = (...flags: string[]) => sandbox.run([...bootstrap, ...five, ...flags]);

  it('of an airgapped install names no mirror of images', async () => {
    const install = ['--install-version=1.0.0', '--registry-type=local-container'];
    const { stderr } = await run('--airgapped', ...install);
    expect(stderr).to.contain('--registry-user is required for registry type local-container with an install');
    expect(stderr).not.to.contain('mirrored');
    expect((await run(...install)).stderr).to.contain('images are mirrored from forge1');
  });

  it('blames no flag where a file is at fault', async () => {
    writeFileSync(sandbox.path('config.yaml'), 'no: [config\n');
    const { code, stderr } = await run();
    expect(code).to.equal(2);
    expect(stderr).to.contain('--install-config').and.contain('Correct what is named').and.not.contain('flags');
  });

  it('of a login that is over says what a person does, and names no command for a program', async () => {
    service.instead.set('GET /bootstraps', [refuse('unauthenticated', 'The token has expired.')]);
    const { code, stdout } = await sandbox.run([...bootstrap, 'list', '--json'], { PLINTH_TOKEN: 'x.y.z' });
    expect(code).to.equal(3);
    const { problem } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { problem: object };
    expect(problem).to.have.property('advice').that.contains('fresh ID token');
    expect(problem).not.to.have.property('next');
  });
});
