/** What plinth.yaml may hold: each fault with its line and key, all at once, and the same in the JSON schema for editors. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { parse } from 'yaml';
import { keyOf, keyOptions, projectSchema } from '../../cli/project/schema.js';
import { flagOf, isSecret } from '../../shared/bootstrap/options.js';
import { createSandbox, type Sandbox } from './run-cli.js';

const good = [
  'project-name: demo',
  'billing-account: 012345-6789AB-CDEF01',
  'base-domain: demo.example.com',
  'forge1-app-client-id: client',
  'forge1-app-client-secret: {env: APP_SECRET}',
  'registry-user: somebody',
];
const planted = 'planted-secret-4711';

interface Case {
  readonly what: string;
  /** Lines after the good ones, so they begin at line 7. */
  readonly lines: readonly string[];
  readonly told: readonly RegExp[];
  /** The value has the right form, and only plinth knows that it is wrong. */
  readonly fitsSchema?: true;
}

const cases: readonly Case[] = [
  {
    what: 'an unknown key',
    lines: ['zoen: europe-west4-a'],
    told: [/plinth\.yaml:7:zoen is no key of this file; did you mean zone\?/],
  },
  { what: 'a key that is a flag of each run', lines: ['verbose: true'], told: [/plinth\.yaml:7:verbose is no key/] },
  {
    what: 'a number for a text',
    lines: ['install-version: 1.10'],
    told: [/plinth\.yaml:7:install-version must be text: put it in quotes, "1\.10"/],
  },
  {
    what: 'a text for a number',
    lines: ['root-disk-size: "50"'],
    told: [/:7:root-disk-size must be a whole number, without quotes/],
  },
  { what: 'a fraction', lines: ['root-disk-size: 50.5'], told: [/:7:root-disk-size must be a whole number/] },
  { what: 'a text for yes or no', lines: ['spot-vms: yes'], told: [/:7:spot-vms must be true or false/] },
  { what: 'a text for a list', lines: ['feature-flags: one'], told: [/:7:feature-flags must be a list of texts/] },
  { what: 'a list of numbers', lines: ['feature-flags: [1, 2]'], told: [/:7:feature-flags must be a list of texts/] },
  { what: 'a list for a text', lines: ['zone: [a]'], told: [/:7:zone must be text$/m] },
  { what: 'a key without a value', lines: ['zone:'], told: [/:7:zone has no value/] },
  {
    what: 'a secret in clear',
    lines: [`forge1-pat: ${planted}`],
    told: [/:7:forge1-pat is a secret and never stands in this file/],
  },
  {
    what: 'a secret from nowhere',
    lines: [`vault-password: {value: ${planted}}`],
    told: [/:7:vault-password is a secret/],
  },
  {
    what: 'a secret from two places',
    lines: [`vault-password: {env: A, file: ${planted}}`],
    told: [/:7:vault-password is a secret/],
  },
  {
    what: 'a secret of no project',
    lines: [`forge1-pat: {secretManager: ${planted}}`],
    told: [/:7:forge1-pat is a secret/],
  },
  {
    what: 'a variable that is not set',
    lines: ['forge1-pat: {env: NOT_SET}'],
    told: [/:7:forge1-pat is in the environment variable NOT_SET, which is not set/],
    fitsSchema: true,
  },
  {
    what: 'a file that is not there',
    lines: ['forge1-pat: {file: gone}'],
    told: [/:7:forge1-pat is in gone, which cannot be read: there is no such file/],
    fitsSchema: true,
  },
  { what: 'a value out of range', lines: ['root-disk-size: 5'], told: [/:7:root-disk-size must be at least 10 GB/] },
  { what: 'a value of no such form', lines: ['zone: there'], told: [/:7:zone must be a zone such as/] },
  {
    what: 'keys that go not together',
    lines: ['spot-vms: true', 'preemptible: true'],
    told: [/plinth\.yaml:\d:(?:spot-vms|preemptible) /],
    fitsSchema: true,
  },
];

/** A port that nothing asks: a run that gets so far ends there at once, and waits for no service. */
const nowhere = 'http://127.0.0.1:9';

describe('plinth.yaml', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = createSandbox(nowhere);
    sandbox.env['APP_SECRET'] = planted;
  });
  afterEach(() => sandbox.remove());
  const up = async (lines: readonly string[], ...flags: string[]) => {
    sandbox.write('plinth.yaml', `${lines.join('\n')}\n`);
    return sandbox.run(['up', '--yes', ...flags]);
  };
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  const fits = ajv.compile(projectSchema());
  const schemaTakes = (lines: readonly string[]) => fits(parse(lines.join('\n')));

  for (const { what, lines, told, fitsSchema = false } of cases) {
    it(`is refused with line and key: ${what}`, async () => {
      const { code, stdout, stderr } = await up([...good, ...lines]);
      expect(code, stderr).to.equal(2);
      for (const text of told) expect(stderr).to.match(text);
      expect(stderr).to.include('Correct plinth.yaml and run the command again.');
      expect(stdout + stderr).to.not.include(planted);
      expect(schemaTakes([...good, ...lines]), JSON.stringify(fits.errors)).to.equal(fitsSchema);
    });
  }

  it('is taken where it is right, and by its schema', async () => {
    const { code, stderr } = await up(good);
    expect([code, stderr.includes(nowhere)]).to.deep.equal([6, true]);
    expect(schemaTakes(good), JSON.stringify(fits.errors)).to.equal(true);
  });

  it('takes each default of the flag table in its schema', () => {
    for (const option of keyOptions) {
      const { default: fallback } = flagOf(option);
      if (fallback !== undefined) expect(fits({ [keyOf(option)]: fallback }), keyOf(option)).to.equal(true);
      if (isSecret(option)) expect(fits({ [keyOf(option)]: 'in clear' }), keyOf(option)).to.equal(false);
    }
  });

  it('tells all faults at once, with those of the flags', async () => {
    const { stderr } = await up(
      ['zoen: x', ...good.slice(1), 'root-disk-size: "9"'],
      '--region',
      'nowhere',
      '--nothing',
    );
    expect(stderr)
      .to.include('plinth.yaml: project-name ')
      .and.include('plinth.yaml:1:zoen ')
      .and.include('plinth.yaml:7:root-disk-size ')
      .and.include('--region must be a region')
      .and.include('--nothing is no known flag');
  });

  it('names line and mistake where it is not YAML', async () => {
    const twice = await up([...good, 'zone: europe-west4-a', 'zone: europe-west4-b']);
    expect([
      twice.code,
      /plinth\.yaml:8 is not YAML: a key stands twice, at column 1/.test(twice.stderr),
    ]).to.deep.equal([2, true]);
    expect((await up(['- a', '- b'])).stderr).to.include('plinth.yaml:1 must hold keys and their values');
    const alias = await up([...good, 'zone: *elsewhere']);
    expect([alias.code, /plinth\.yaml:7 is not YAML: an alias has no anchor/.test(alias.stderr)]).to.deep.equal([
      2,
      true,
    ]);
    expect((await up(['a: "b'])).stderr).to.match(/plinth\.yaml:\d is not YAML: /);
  });

  it('is in this folder, or where --file says, and not above', async () => {
    const { code, stderr } = await sandbox.run(['up', '--yes']);
    expect(code).to.equal(2);
    expect(stderr).to.include('plinth.yaml cannot be read: there is no such file').and.include('plinth init');
    sandbox.write('other.yaml', `${good.join('\n')}\n`);
    expect((await sandbox.run(['up', '--yes', '--file', 'other.yaml'])).code).to.equal(6);
  });

  it('names the project for plinth down, which is refused without a name', async () => {
    sandbox.write('plinth.yaml', 'zone: europe-west4-a\n');
    const { code, stderr } = await sandbox.run(['down', '--yes']);
    expect([code, stderr.includes('plinth.yaml: project-name is needed')]).to.deep.equal([2, true]);
  });
});
