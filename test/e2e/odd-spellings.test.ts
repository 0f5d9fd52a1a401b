/** Yes-or-no flags as people write them, and paths of files with odd names: what arrives is seen on the wire and on the terminal. */
import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { flagName, flagOf, isLocal, type Option, optionNames } from '../../shared/bootstrap/options.js';
import { readUpload } from '../../shared/bootstrap/upload.js';
import { openSshPair } from '../../shared/openssh.js';
import { bootstrap, createSandbox, five, type Ran, type Sandbox } from '../cli/run-cli.js';
import { createService, refuse, type Service, shortRun, stateEvent } from '../cli/service.js';
import { makeExecutable } from '../support/machines.js';
import { odds, oddValues, takes, writtenAs } from './odd-values.js';

const on = (name: string) => [[name], [`${name}=true`], [`${name}=1`], [`${name}=t`], [`${name}=false`, name]];
const off = (name: string) => [
  [`${name}=false`],
  [`${name}=0`],
  [`${name}=f`],
  [`--no-${name.slice(2)}`],
  [name, `${name}=false`],
  [name, `--no-${name.slice(2)}`],
];
const wrong = (name: string) => [
  ...['', '=', 'yes', 'TRUE', ' true', '2'].map((value) => [`${name}=${value}`]),
  [`--no-${name.slice(2)}=true`],
  // Whoever asks for help gets it.
  ...(name === '--help'
    ? []
    : [
        [name, 'false'],
        [name, 'true'],
      ]),
];

describe('spellings of flags', function () {
  this.timeout(120_000);
  let service: Service;
  let sandbox: Sandbox;
  const pair = openSshPair(
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    'odd',
  );
  /** A new computer, with a key that opens. */
  const renew = () => {
    sandbox = createSandbox(service.url);
    putPair(join(sandbox.home, '.ssh', 'id_rsa'));
  };
  const putPair = (path: string) => {
    writeFileSync(path, pair.privateKey, { mode: 0o600 });
    writeFileSync(`${path}.pub`, `${pair.publicKey}\n`);
  };
  beforeEach(async () => {
    service = await createService();
    renew();
    service.events = [
      stateEvent('running'),
      {
        schema: 1,
        type: 'log',
        at: '2026-01-31T12:00:00.000Z',
        instance: 'project',
        generation: 1,
        offset: 0,
        text: 'from a machine\n',
      },
      ...shortRun.slice(1),
    ];
  });
  afterEach(async () => {
    sandbox.remove();
    await service.close();
  });

  const run = (args: readonly string[]) => {
    service.seen.length = 0;
    service.standing = false;
    return sandbox.run([...bootstrap, ...five, '--registry-user=somebody', ...args]);
  };
  const asked = () => service.seen.filter(({ method }) => method === 'POST').length;
  const begun = () => service.seen.filter(({ method, path }) => method === 'POST' && path === '/bootstraps').length;

  /** Of those that do not travel: what shows that it is on. */
  const shows: Partial<Record<Option, (ran: Ran) => boolean>> = {
    writeConfig: () => sandbox.has('config.yaml'),
    recoverConfig: () => service.seen.some(({ path }) => path.startsWith('/lost-projects/')),
    timer: ({ stderr }) => stderr.includes('How long each took'),
    help: ({ stdout }) => stdout.includes('Usage'),
    sshQuiet: ({ stderr }) => !stderr.includes('from a machine'),
    verbose: ({ stderr }) => stderr.includes('POST /bootstraps'),
  };

  /** Every spelling of these: one travels, one does not, and one is no option of a bootstrap. Of the others one of each kind, in turn. */
  const inFull: readonly Option[] = ['preemptible', 'writeConfig', 'help'];
  const bools = optionNames.filter((each) => flagOf(each).kind === 'bool');
  for (const [index, option] of bools.entries()) {
    const name = flagName(option);
    const some = (spellings: readonly (readonly string[])[]) =>
      inFull.includes(option) ? spellings : spellings.filter((_, at) => at === index % spellings.length);
    it(`${name} is on, off, or refused by name`, async () => {
      const state = async (args: readonly string[]): Promise<unknown> => {
        sandbox.remove();
        renew();
        const ran = await run(args);
        if (isLocal(option)) return shows[option]?.(ran);
        return (service.request().options as Record<string, unknown>)[option];
      };
      for (const args of some(on(name))) expect(await state(args), args.join(' ')).to.equal(true);
      for (const args of some(off(name))) expect(await state(args), args.join(' ')).to.equal(false);
      for (const args of some(wrong(name))) {
        const { code, stderr } = await run(args);
        expect([code, asked()], args.join(' ')).to.deep.equal([2, 0]);
        expect(stderr, args.join(' ')).to.include(name.slice(2));
      }
    });
  }

  describe('of files', () => {
    let made: MadePackage;
    let folder: string;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'plinth-odd-'));
      made = await makePackage(folder);
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    /** Puts such a file there. */
    const put: Partial<Record<Option, (path: string) => unknown>> = {
      installLocal: (path) => copyFileSync(made.lite.path, path),
      remoteCliBinary: (path) => makeExecutable(path, 5000),
      pcAppsValues: (path) => writeFileSync(path, 'a: 1\n'),
      sshPublicKeyPath: (path) => writeFileSync(path, `${pair.publicKey}\n`),
      sshPrivateKeyPath: putPair,
    };
    const files = optionNames.filter((option) => writtenAs[option] === 'file');

    for (const [index, odd] of odds.entries()) {
      it(`${odd}: ${JSON.stringify(oddValues[odd])}`, async () => {
        const value = oddValues[odd];
        for (const option of files) {
          const flag = flagName(option);
          const place = sandbox.path(value === '' ? 'nothing' : value);
          put[option]?.(place);
          service.instead.set('POST /bootstraps', [refuse('forbidden', 'No.')]);
          const { stderr } = await run(index % 2 === 0 ? [`${flag}=${value}`] : [flag, value]);
          rmSync(place, { recursive: true });
          if (!takes('file', odd)) {
            expect([asked(), stderr.includes(flag)], flag).to.deep.equal([0, true]);
            continue;
          }
          expect(begun(), stderr).to.equal(1);
          const { options, sshPublicKey } = service.request();
          if (isLocal(option)) expect(sshPublicKey).to.equal(pair.publicKey);
          else {
            const [sent = ''] = [options[option as keyof typeof options] ?? []].flat().map(String);
            expect(readUpload(sent)?.name, flag).to.equal(value);
          }
        }
      });
    }
  });
});
