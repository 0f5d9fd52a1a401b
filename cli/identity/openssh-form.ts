/**
 * Private keys that other readers take and OpenSSH's client does not, with the command that helps. The rules are those of
 * sshkey.c and PROTOCOL.key.
 */
import { spawnSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shellWord } from '../../shared/command-words.js';

const [begin, end] = ['-----BEGIN OPENSSH PRIVATE KEY-----', '-----END OPENSSH PRIVATE KEY-----'];

interface KeyFile {
  readonly text: string;
  /** As people write it. */
  readonly path: string;
  readonly place: string;
  /** `<type> <base64> [comment]` */
  readonly publicKey: string;
}

/** Undefined: OpenSSH takes the key, or it is no key. */
export function openSshRefusal(file: KeyFile, env: NodeJS.ProcessEnv): string | undefined {
  const why = file.text.includes(begin) ? whyOfOwnForm(file) : isRefusedPkcs8(file, env) ? whyOfPkcs8(file) : undefined;
  return why === undefined ? undefined : `${file.path} cannot be read by OpenSSH: ${why}`;
}

/** OpenSSH compares its first and its last line byte by byte, newline included. OpenSSL, which reads the others, skips more. */
function whyOfOwnForm({ text, path }: KeyFile): string | undefined {
  const isBegun = text.startsWith(`${begin}\n`);
  const word = shellWord(path);
  if (isBegun && text.includes(`\n${end}\n`)) return undefined;
  if (isBegun && text.endsWith(`\n${end}`)) return `its last newline is missing. Add it: echo >> ${word}`;
  // Cut short, which no command can mend.
  if (!text.includes(end)) return undefined;
  const copy = shellWord(`${path}.new`);
  const only = String.raw`s/^.*\(-----BEGIN OPENSSH\)/\1/; s/[[:blank:]]*$//; /^-----BEGIN OPENSSH/,/^-----END OPENSSH/p`;
  return `it has carriage returns, blanks or text around the key. Remove them: (umask 077; { tr -d '\\r' < ${word} | sed -n '${only}'; echo; } > ${copy} && mv ${copy} ${word})`;
}

/** Some releases of OpenSSH read Ed25519 in PKCS #8, so the one that is here decides. */
function isRefusedPkcs8({ text, place, publicKey }: KeyFile, env: NodeJS.ProcessEnv): boolean {
  if (text.includes('-----BEGIN ENCRYPTED PRIVATE KEY-----'))
    return publicKey.startsWith('ssh-ed25519 ') && isRefusedWithoutPassphrase(env);
  if (!text.includes('-----BEGIN PRIVATE KEY-----') || typeOf(text) !== 'ed25519') return false;
  return refuses(place, env);
}

/** Nobody has given the passphrase yet. A release that reads no such key without one reads none with one. */
function isRefusedWithoutPassphrase(env: NodeJS.ProcessEnv): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-key-'));
  try {
    const place = join(folder, 'key');
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(place, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    return refuses(place, env);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function refuses(place: string, env: NodeJS.ProcessEnv): boolean {
  const { error, status } = spawnSync('ssh-keygen', ['-y', '-P', '', '-f', place], {
    stdio: 'ignore',
    timeout: 5000,
    env,
  });
  return error === undefined && status !== 0;
}

function typeOf(text: string): string | undefined {
  try {
    return createPrivateKey(text).asymmetricKeyType;
  } catch {
    return undefined;
  }
}

const whyOfPkcs8 = ({ path }: KeyFile): string =>
  `the ssh-keygen here reads no Ed25519 key in PKCS #8, and so cannot convert it. Make another key, and name that: ssh-keygen -t ed25519 -f ${shellWord(`${path}-openssh`)}`;
