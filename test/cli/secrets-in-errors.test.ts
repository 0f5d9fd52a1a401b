/** A file of secrets that is damaged is refused by name and place. Nothing of it is printed, by plinth or by a library. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { bootstrap, createSandbox, five, type Ran, type Sandbox } from './run-cli.js';
import { createService, type Service } from './service.js';

const vault = 'prod.vault.yaml';

describe('a damaged file of secrets', () => {
  let service: Service;
  let sandbox: Sandbox;
  let warned: string[] = [];
  const hear = ({ message }: Error) => void warned.push(message);

  beforeEach(async () => {
    service = await createService();
    sandbox = createSandbox(service.url);
    const { code, stderr } = await sandbox.run([...bootstrap, ...five]);
    expect(code, stderr).to.equal(0);
    warned = [];
    process.on('warning', hear);
  });
  afterEach(async () => {
    process.off('warning', hear);
    sandbox.remove();
    await service.close();
  });

  /** In each form that a command has. */
  const runs = async (): Promise<Ran[]> => {
    const ran: Ran[] = [];
    for (const flags of [[], ['--verbose'], ['--json'], ['--json', '--verbose']])
      ran.push(await sandbox.run([...bootstrap, ...five, ...flags]));
    // Warnings are emitted in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    return ran;
  };

  it('is named, and no part of an age identity is printed', async () => {
    const place = join(sandbox.configFolder, 'age', 'b-one.txt');
    const [identity = ''] = /AGE-SECRET-KEY-\w+/.exec(readFileSync(place, 'utf8')) ?? [];
    const changed = identity.replace(/.$/, (last) => (last === 'Q' ? 'P' : 'Q'));
    writeFileSync(place, readFileSync(place, 'utf8').replace(identity, changed));
    for (const { code, stdout, stderr } of await runs()) {
      expect(code).to.equal(2);
      expect(`${stdout}${stderr}`).to.include(place).and.include('age identity');
      expect(`${stdout}${stderr}`.toLowerCase()).not.to.include(changed.slice(16, 50).toLowerCase());
    }
  });

  for (const sign of ['!', '*', '&x !']) {
    it(`is named, and no value behind ${sign} is printed, nor is a warning`, async () => {
      sandbox.write(
        vault,
        `version: 1\nsecrets:\n  - name: one\n    fields:\n      password: ${sign}Hunter2-planted\n`,
      );
      for (const { code, stdout, stderr } of await runs()) {
        expect(code).to.equal(2);
        expect(`${stdout}${stderr}`).to.include(vault).and.not.include('Hunter2');
      }
      expect(warned).to.deep.equal([]);
    });
  }

  it('leaves no raw warning of Node on the stderr of the process', async () => {
    sandbox.write(vault, 'version: 1\nsecrets:\n  - name: one\n    fields:\n      password: !Hunter2-planted x\n');
    const { code, stdout, stderr } = await sandbox.spawn([...bootstrap, ...five]).ended;
    expect(code, stderr).to.equal(2);
    expect(`${stdout}${stderr}`)
      .to.include(vault)
      .and.not.match(/Hunter2|Warning: Unresolved|--trace-warnings/);
  });
});

describe('a command that dies of what nobody catches', () => {
  const planted = 'planted-"vault" \\ password-4711';
  /** Runs before the command line: its first request meets this. */
  const hook = (what: string): string =>
    `data:text/javascript,${encodeURIComponent(
      `globalThis.fetch = () => { ${what}; return new Promise((resolve) => setTimeout(resolve, 5000)); };`,
    )}`;
  const value = 'process.env.PLINTH_VAULT_PASSWORD';

  for (const [name, what] of Object.entries({
    'an exception': `setImmediate(() => { throw new Error('no luck with ' + ${value}); })`,
    'a rejection': `void Promise.reject(Object.assign(new Error('no luck'), { stack: ${value} }))`,
    'a warning and an exception': `process.emitWarning(${value}); setTimeout(() => { throw ${value}; }, 50)`,
  })) {
    it(`tells of ${name} without secrets`, async () => {
      const sandbox = createSandbox('http://127.0.0.1:9');
      try {
        for (const flags of [[], ['--json', '--verbose']]) {
          const env = { PLINTH_VAULT_PASSWORD: planted, NODE_OPTIONS: `--import="${hook(what)}"` };
          const { code, stdout, stderr } = await sandbox.spawn([...bootstrap, 'list', ...flags], env).ended;
          expect(code, stderr).to.equal(1);
          expect(stderr).to.include('Something went wrong inside plinth');
          expect(`${stdout}${stderr}`).not.to.match(/planted|4711/);
          if (flags.length > 0) expect(JSON.parse(stdout)).to.deep.include({ type: 'result', exitCode: 1 });
        }
      } finally {
        sandbox.remove();
      }
    });
  }
});
