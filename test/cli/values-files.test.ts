/** A values file that is no YAML is refused before anything is made, and one that readers may read differently is warned of. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { bootstrap, createSandbox, five, type Sandbox } from './run-cli.js';
import { createService, json, type Service } from './service.js';

describe('a file of --pc-apps-values', () => {
  let service: Service;
  let sandbox: Sandbox;
  beforeEach(async () => {
    service = await createService();
    sandbox = createSandbox(service.url);
    sandbox.write('good.yaml', 'a: 1\n---\nb: [two]\n');
  });
  afterEach(async () => {
    sandbox.remove();
    await service.close();
  });
  const run = (...flags: string[]) => sandbox.run([...bootstrap, ...five, '--pc-apps-values=good.yaml', ...flags]);

  it('is refused where it is no YAML, by file, line and column, before anything is asked for', async () => {
    for (const [text, place] of [
      ['a: [1\nb: }', 'line 2, column 1'],
      ['a: 1\na: 2\n', 'line 2, column 1'],
      ['a: &x 1\n---\nb: *x\n', 'line 3, column 4'],
    ] as const) {
      sandbox.write('bad.yaml', text);
      for (const flag of ['--dry-run', '--spot-vms']) {
        const { code, stderr } = await run(flag, '--pc-apps-values=bad.yaml');
        expect(code, stderr).to.equal(2);
        expect(stderr)
          .to.match(new RegExp(`--pc-apps-values bad\\.yaml.*at ${place}`))
          .and.not.include('good.yaml');
      }
    }
    expect(service.seen).to.deep.equal([]);
    service.instead.set('POST /preflights', [(response) => json(response, 200, { go: true, findings: [] })]);
    const checked = await run('--check', '--pc-apps-values=bad.yaml');
    expect([checked.code, checked.stdout.includes('bad.yaml')]).to.deep.equal([2, true]);
  });

  it('is warned of by line where readers of YAML 1.1 and 1.2 read it differently, and goes as it is', async () => {
    const text = 'a: 1\n---\nmode: 0644 # ours\r\n';
    sandbox.write('odd.yaml', text);
    const { stderr } = await run('--dry-run', '--pc-apps-values=odd.yaml');
    expect(stderr).to.match(/Warning: --pc-apps-values odd\.yaml.*line 3/);
    const sha256 = createHash('sha256').update(text).digest('hex');
    expect(JSON.stringify(service.seen)).to.include(sha256);
    const strict = await run('--pc-apps-values=odd.yaml', '--strict');
    expect([strict.code, strict.stderr.includes('odd.yaml')]).to.deep.equal([2, true]);
  });
});
