/** `plinth init` without a service: what it writes, and what it never writes over. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { parse } from 'yaml';
import { keyOf, keyOptions } from '../../cli/project/schema.js';
import { flagOf } from '../../shared/bootstrap/options.js';
import { createSandbox, type Sandbox } from './run-cli.js';

const flags = [
  '--project-name=demo',
  '--billing-account=012345-6789AB-CDEF01',
  '--base-domain=demo.example.com',
  '--forge1-app-client-id=1.10',
  '--registry-user=somebody',
];

describe('plinth init', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = createSandbox();
  });
  afterEach(() => sandbox.remove());
  const init = (...more: string[]) => sandbox.run(['init', '--yes', ...flags, ...more]);

  it('takes flags and defaults without a terminal, and says which secret is to be set', async () => {
    const { code, stdout, stderr } = await init();
    expect(code, stderr).to.equal(0);
    expect(stderr).to.include('The service cannot be asked what you may use');
    expect(stdout).to.include('Next: set PLINTH_FORGE1_APP_CLIENT_SECRET, then plinth up.');
    expect(parse(sandbox.read('plinth.yaml'))).to.deep.equal({
      'project-name': 'demo',
      'billing-account': '012345-6789AB-CDEF01',
      'base-domain': 'demo.example.com',
      zone: 'europe-west4-a',
      'project-ttl': '2h',
      'registry-user': 'somebody',
      'forge1-app-client-id': '1.10',
      'forge1-app-client-secret': { env: 'PLINTH_FORGE1_APP_CLIENT_SECRET' },
    });
    expect(JSON.parse(sandbox.read('plinth.schema.json'))).to.have.property('title', 'plinth.yaml');
    expect(sandbox.read('plinth.yaml')).to.match(/^# yaml-language-server: \$schema=\.\/plinth\.schema\.json$/m);
  });

  it('lists every other key as a comment, with its default, in a form that its schema takes', async () => {
    await init();
    const all: Record<string, unknown> = parse(
      sandbox.read('plinth.yaml').replaceAll(/^#(?=[a-z0-9-]+:(?: |$))/gm, ''),
    );
    expect(Object.keys(all).toSorted()).to.deep.equal(keyOptions.map(keyOf).toSorted());
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    const fits = ajv.compile(JSON.parse(sandbox.read('plinth.schema.json')));
    expect(fits(given), JSON.stringify(fits.errors)).to.equal(true);
    for (const option of keyOptions) {
      const { default: fallback } = flagOf(option);
      if (fallback !== undefined) expect(given[keyOf(option)], keyOf(option)).to.deep.equal(fallback);
    }
  });

  it('never writes over a file without --force, nor over a schema that is not its own', async () => {
    sandbox.write('plinth.yaml', 'project-name: mine\n');
    const refused = await init();
    expect([refused.code, refused.stderr.includes('plinth.yaml stands already')]).to.deep.equal([2, true]);
    expect(sandbox.read('plinth.yaml')).to.equal('project-name: mine\n');
    expect(sandbox.has('plinth.schema.json')).to.equal(false);
    expect((await init('--force')).code).to.equal(0);
    sandbox.write('plinth.schema.json', '{}');
    const other = await sandbox.run(['init', '--schema']);
    expect([other.code, other.stderr.includes('plinth.schema.json stands already')]).to.deep.equal([2, true]);
    expect((await sandbox.run(['init', '--schema', '--force'])).code).to.equal(0);
    expect((await sandbox.run(['init', '--schema'])).code).to.equal(0);
  });

  it('tells all that is wrong or missing at once, and writes nothing', async () => {
    const piped = await sandbox.run(['init', '--zone=there', '--spot-vms']);
    expect(piped.code).to.equal(2);
    expect(piped.stderr)
      .to.include('--yes is needed here')
      .and.include('--zone must be a zone')
      .and.include('--spot-vms is no flag of plinth init');
    const missing = await sandbox.run(['init', '--yes', '--project-name=demo']);
    expect(missing.code).to.equal(2);
    for (const flag of ['--billing-account', '--base-domain', '--forge1-app-client-id', '--registry-user'])
      expect(missing.stderr).to.include(flag);
    expect(sandbox.has('plinth.yaml')).to.equal(false);
  });

  it('breaks a question between words where the terminal is narrower, with room for the answer', async () => {
    const others = ['--folder-id=1', '--zone=europe-west4-a', '--dns-zone-name=zone', '--project-ttl=2h'];
    const started = sandbox.startOnTerminal(['init', ...flags, ...others], { columns: 60 });
    await started.saw(/Version of the platform[\s\S]*: $/);
    expect(started.text()).to.match(/Version of the platform to install\n {2}\[none: cloud resources alone\]: $/);
    started.type('\u0003');
    expect((await started.ended).code).to.equal(130);
  });

  it('writes nothing after Ctrl-C or Ctrl-D', async () => {
    for (const key of ['\u0003', '\u0004']) {
      const started = sandbox.startOnTerminal(['init']);
      await started.saw(/Name of the project.*: $/);
      started.type(key);
      expect((await started.ended).code).to.equal(130);
    }
    expect(sandbox.has('plinth.yaml')).to.equal(false);
  });
});
