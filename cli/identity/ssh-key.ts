/** The caller's SSH public key: one that a flag names, a usual file, one from ssh-agent, or one that plinth makes. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import type { GivenFlags } from '../../shared/bootstrap/options.js';
import { openSshPair } from '../../shared/openssh.js';
import type { Fault } from '../../shared/problems.js';
import {
  expandHome,
  homePlaceOf,
  makeSecretFolder,
  readIfThere,
  reason,
  secretMode,
  whyUnreadable,
  writeWhole,
} from '../files/files.js';
import { readSecretTextIfThere } from '../files/secret-text.js';
import type { Settings } from '../settings.js';

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

const pattern =
  /^(?:ssh-(?:rsa|ed25519)|ecdsa-sha2-nistp(?:256|384|521)|sk-[a-z0-9@.-]+) [A-Za-z0-9+/]+={0,2}(?: [^\r\n]*)?$/;

/** Faults of the files that flags name. */
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
      else if (!pattern.test(text.trim())) faults.push({ path, message: `${named} holds no SSH public key` });
    } catch (error) {
      faults.push({ path, message: `${named}: ${reason(error)}` });
    }
  }
  return faults;
}

/** What is wrong with a readable private key. Its passphrase is asked for later. */
async function privateFault(path: string, given: GivenFlags, settings: Settings): Promise<string | undefined> {
  const text = readSecretTextIfThere(homePlaceOf(path, settings), 'SSH private key', settings) ?? '';
  if (pattern.test(text.trim())) return `${path} is a public key; its private half is needed`;
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
    return text !== undefined && pattern.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The public keys that ssh-agent holds. Empty if there is no agent. */
export function agentKeys({ env }: Pick<Settings, 'env'>): string[] {
  try {
    const listed = execFileSync('ssh-add', ['-L'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5000,
      env,
    });
    return listed.split('\n').filter((line) => pattern.test(line));
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
