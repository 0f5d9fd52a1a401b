/** plinth takes and refuses the private keys that ssh-keygen does, and the command that it prints makes one of the other. */
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { openSshPair } from '../../shared/openssh.js';
import { bootstrap, five, type Ran, type Sandbox } from './run-cli.js';
import { useService } from './use-service.js';

const passphrase = 'pass-4711';
const forms: Readonly<Record<string, readonly string[]>> = {
  ed25519: ['-t', 'ed25519', '-N', ''],
  'ed25519-locked': ['-t', 'ed25519', '-N', passphrase],
  'rsa-pem': ['-t', 'rsa', '-b', '2048', '-m', 'PEM', '-N', ''],
  'rsa-pem-locked': ['-t', 'rsa', '-b', '2048', '-m', 'PEM', '-N', passphrase],
  'rsa-pkcs8': ['-t', 'rsa', '-b', '2048', '-m', 'PKCS8', '-N', ''],
  ecdsa: ['-t', 'ecdsa', '-N', ''],
  'ecdsa-pem': ['-t', 'ecdsa', '-m', 'PEM', '-N', ''],
  'ecdsa-pkcs8': ['-t', 'ecdsa', '-m', 'PKCS8', '-N', ''],
};
const edits: Readonly<Record<string, (text: string) => string>> = {
  whole: (text) => text,
  crlf: (text) => text.replaceAll('\n', '\r\n'),
  'no-newline': (text) => text.trimEnd(),
  'crlf-no-newline': (text) => text.trimEnd().replaceAll('\n', '\r\n'),
  bom: (text) => `\uFEFF${text}`,
  'blank-line': (text) => `\n${text}`,
  'text-before': (text) => `my key\n${text}`,
  'text-behind': (text) => `${text}more\n`,
  'blanks-behind': (text) => text.replaceAll('\n', ' \n'),
};

describe('a private key', () => {
  let sandbox: Sandbox;
  useService((each) => {
    ({ sandbox } = each);
  });

  const opens = (name: string): boolean =>
    spawnSync('ssh-keygen', ['-y', '-P', passphrase, '-f', sandbox.path(name)], { stdio: 'ignore' }).status === 0;
  const check = (name: string): Promise<Ran> => sandbox.run([...bootstrap, ...five, `--ssh-private-key-path=${name}`]);
  /** Runs the command of the message in a shell, as a person pastes it. */
  const convert = (said: string): void => {
    const [, command = ''] = /^.*?: (\(umask.*\)|echo >> \S+)/m.exec(said) ?? [];
    execFileSync('sh', ['-c', command], { cwd: sandbox.folder });
  };

  for (const [form, args] of Object.entries(forms)) {
    it(`of the form ${form} is judged as by ssh-keygen, and converted by the command of the message`, async () => {
      execFileSync('ssh-keygen', ['-q', '-C', 'c', ...args, '-f', sandbox.path('key')]);
      for (const [edit, change] of Object.entries(edits)) {
        sandbox.write(edit, change(sandbox.read('key')));
        sandbox.write(`${edit}.pub`, sandbox.read('key.pub'));
        chmodSync(sandbox.path(edit), 0o600);
        const { code, stdout, stderr } = await check(edit);
        expect(code === 0, `${edit}: ${stdout}${stderr}`).to.equal(opens(edit));
        if (code === 0) continue;
        convert(stdout + stderr);
        expect(opens(edit), edit).to.equal(true);
        expect((await check(edit)).code, edit).to.equal(0);
        expect(readFileSync(sandbox.path(edit), 'utf8').trimEnd(), edit).to.equal(sandbox.read('key').trimEnd());
      }
    });
  }

  for (const [title, lock] of [
    ['', {}],
    [', with a passphrase', { cipher: 'aes-256-cbc', passphrase }],
  ] as const) {
    it(`of PKCS #8 with Ed25519${title} is taken where the ssh-keygen here reads it`, async () => {
      const { privateKey } = generateKeyPairSync('ed25519');
      const pem = (more: object): string => privateKey.export({ type: 'pkcs8', format: 'pem', ...more }).toString();
      sandbox.write('key', pem(lock));
      sandbox.write('key.pub', `${openSshPair(pem({}), 'c').publicKey}\n`);
      chmodSync(sandbox.path('key'), 0o600);
      const { code, stdout, stderr } = await check('key');
      expect(code === 0, stdout + stderr).to.equal(opens('key'));
      if (code === 0) return;
      const [command = ''] = /ssh-keygen -t ed25519 -f [\w-]+/.exec(stdout + stderr) ?? [];
      execFileSync('sh', ['-c', command], { cwd: sandbox.folder, input: '\n\n', stdio: 'pipe' });
      expect((await check('key-openssh')).code).to.equal(0);
    });
  }
});
