/** A values file that is no YAML is told of before anything is made: the package may still read it. */
import { expect } from 'chai';
import { bootstrap, createSandbox, five, type Sandbox } from './run-cli.js';
import { createService, type Service } from './service.js';

describe('a file of --pc-apps-values', () => {
  let service: Service;
  let sandbox: Sandbox;
  beforeEach(async () => {
    service = await createService();
    sandbox = createSandbox(service.url);
    sandbox.write('good.yaml', 'a: 1\n---\nb: [two]\n');
    sandbox.write('bad.yaml', 'a: [1\nb: }');
  });
  afterEach(async () => {
    sandbox.remove();
    await service.close();
  });
  const run = (...flags: string[]) =>
    sandbox.run([...bootstrap, ...five, '--dry-run', '--pc-apps-values=good.yaml', ...flags]);

  it('is warned of by name where it is no YAML, and only then', async () => {
    expect((await run()).stderr).not.to.include('YAML');
    const { stderr } = await run('--pc-apps-values=bad.yaml');
    expect(stderr)
      .to.match(/Warning: --pc-apps-values bad\.yaml is no YAML: .*line 2/)
      .and.not.include('good.yaml is');
  });

  it('is refused with --strict', async () => {
    const { code, stderr } = await run('--pc-apps-values=bad.yaml', '--strict');
    expect(code).to.equal(2);
    expect(stderr).to.include('--pc-apps-values bad.yaml is no YAML');
    expect(service.seen).to.deep.equal([]);
  });
});
