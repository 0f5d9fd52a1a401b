/** The caller's SSH public key: one that a flag names, a usual file, one from ssh-agent, or one that plinth makes. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { flags, type GivenFlags } from '../../shared/bootstrap/options.js';
import { shellWord } from '../../shared/command-words.js';
import { openSshPair } from '../../shared/openssh.js';
import type { Fault } from '../../shared/problems.js';
import { isUserKey } from '../../shared/ssh-public-key.js';
import {
  expandHome,
  homePlaceOf,
  makeSecretFolder,
  placeOf,
  readIfThere,
  reason,
  secretMode,
  whyUnreadable,
  writeWhole,
} from '../files/files.js';
import { readSecretTextIfThere } from '../files/secret-text.js';
import type { Settings } from '../settings.js';
import { openSshRefusal } from './openssh-form.js';

export interface SshKey {
  /** One line. */
  readonly publicKey: string;
  /** Where it came from, for people. */
  readonly from: string;
  /** The path of the private key as people write it. Undefined if only ssh-agent has the key. */
  readonly privatePath?: string;
  /** Writes a new key pair. Undefined for an existing key. */
  readonly keep?: () => void;
}

/** Faults of the files that flags name, and of the private key that OpenSSH will read in the end. */
export async function sshKeyFaults(given: GivenFlags, settings: Settings): Promise<Fault[]> {
  const faults: Fault[] = [];
  const { sshPrivateKeyPath } = given;
  if (sshPrivateKeyPath !== undefined) {
    const why = whyUnreadable(homePlaceOf(sshPrivateKeyPath, settings));
    const message =
      why === undefined ? await privateFault(sshPrivateKeyPath, given, settings) : `${sshPrivateKeyPath}: ${why}`;
    if (message !== undefined) faults.push({ path: '--ssh-private-key-path', message });
  }
  const named = publicPathOf(given);
  if (named !== undefined) {
    const path = '--ssh-public-key-path';
    try {
      const text = readIfThere(homePlaceOf(named, settings));
      if (text === undefined) faults.push({ path, message: `${named}: there is no such file` });
      else if (!isUserKey(text.trim())) faults.push({ path, message: noPublicKey(named, given) });
    } catch (error) {
      faults.push({ path, message: `${named}: ${reason(error)}` });
    }
  }
  return faults.length > 0 ? faults : formFaults(given, settings);
}

function noPublicKey(named: string, given: GivenFlags): string {
  const word = shellWord(given.sshPrivateKeyPath ?? privateOf(named));
  return `${named} holds no SSH public key. Write it again from its private key: ssh-keygen -y -f ${word} > ${shellWord(named)}`;
}

/** Also of a key in a usual place. A key that ssh-agent holds needs no file. */
function formFaults(given: GivenFlags, settings: Settings): Fault[] {
  const { privatePath, publicKey, keep } = findSshKey(given, flags.sshPublicKeyPath.default, settings);
  if (privatePath === undefined || keep !== undefined) return [];
  const place = placeOf(privatePath, settings);
  if (whyUnreadable(place) !== undefined) return [];
  const text = readSecretTextIfThere(place, 'SSH private key', settings) ?? '';
  const message = openSshRefusal({ text, path: privatePath, place, publicKey }, settings.env);
  if (message === undefined) return [];
  const isHeld = agentKeys(settings).some((held) => held.split(' ')[1] === publicKey.split(' ')[1]);
  return isHeld ? [] : [{ path: '--ssh-private-key-path', message }];
}

/** What is wrong with a readable private key. Its passphrase is asked for later. */
async function privateFault(path: string, given: GivenFlags, settings: Settings): Promise<string | undefined> {
  const text = readSecretTextIfThere(homePlaceOf(path, settings), 'SSH private key', settings) ?? '';
  if (isUserKey(text.trim())) return `${path} is a public key; its private half is needed`;
  const { publicHalfOf, readLoginKey } = await import('../../functions/remote/login-key.js');
  if (readLoginKey(text).kind === 'unusable') return `${path} holds no SSH private key`;
  const half = publicHalfOf(text);
  const named = publicPathOf(given) ?? '';
  const publicKey = readKey(homePlaceOf(named, settings));
  // An unreadable public key has its own fault.
  if (half === undefined || publicKey === undefined || publicKey.split(' ')[1] === half) return undefined;
  return `${path} does not belong to the public key in ${named}`;
}

/** The public key of a given private key is beside it. */
const publicPathOf = ({ sshPrivateKeyPath, sshPublicKeyPath }: GivenFlags): string | undefined =>
  sshPublicKeyPath ?? (sshPrivateKeyPath === undefined ? undefined : `${sshPrivateKeyPath}.pub`);

export function findSshKey(given: GivenFlags, defaultPath: string, settings: Settings): SshKey {
  const { home, configFolder } = settings;
  const named = publicPathOf(given);
  if (named !== undefined) {
    const publicKey = readIfThere(homePlaceOf(named, settings))?.trim() ?? '';
    return { publicKey, from: named, privatePath: expandHome(given.sshPrivateKeyPath ?? privateOf(named), home) };
  }
  const own = join(configFolder, 'ssh', 'id_ed25519');
  for (const path of [defaultPath, '~/.ssh/id_ed25519.pub']) {
    const publicKey = readKey(homePlaceOf(path, settings));
    if (publicKey !== undefined) return { publicKey, from: path, privatePath: expandHome(privateOf(path), home) };
  }
  const [held] = agentKeys(settings);
  if (held !== undefined) return { publicKey: held, from: 'ssh-agent' };
  const kept = readKey(`${own}.pub`);
  return kept === undefined ? makeKey(own) : { publicKey: kept, from: `${own}.pub`, privatePath: own };
}

const privateOf = (publicPath: string): string => publicPath.replace(/\.pub$/, '');

function readKey(path: string): string | undefined {
  try {
    const text = readIfThere(path)?.trim();
    return text !== undefined && isUserKey(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The public keys that ssh-agent holds. Empty if there is no agent. */
export function agentKeys({ env, sshAgent }: Pick<Settings, 'env' | 'sshAgent'>): string[] {
  if (sshAgent === undefined) return [];
  try {
    const listed = execFileSync('ssh-add', ['-L'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5000,
      env,
    });
    return listed.split('\n').filter((line) => isUserKey(line));
  } catch {
    return [];
  }
}

function makeKey(path: string): SshKey {
  const { privateKey: pem } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const pair = openSshPair(pem, 'plinth');
  return {
    publicKey: pair.publicKey,
    from: `${path}.pub`,
    privatePath: path,
    keep: () => {
      makeSecretFolder(join(path, '..'));
      writeWhole(path, pair.privateKey, secretMode);
      writeWhole(`${path}.pub`, `${pair.publicKey}\n`, 0o644);
    },
  };
}
