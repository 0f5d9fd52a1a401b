/**
 * What the caller logs in to machines with: the unlocked private key from disk, or ssh-agent's key. For connections that
 * plinth makes itself.
 */
import type { Identity } from '../../functions/remote/remote.js';
import { Problem } from '../../shared/problems.js';
import { placeOf, reason } from '../files/files.js';
import { readSecretTextIfThere } from '../files/secret-text.js';
import type { CommandContext } from '../frame/command.js';
import { canAsk } from '../frame/confirm.js';
import type { Settings } from '../settings.js';
import { askPassphrase } from './passphrase.js';
import { agentKeys, type SshKey } from './ssh-key.js';

const mostTries = 3;

/** Asks for the passphrase of a locked key, if a person can answer. */
export async function loginIdentity(
  { io, settings }: Pick<CommandContext, 'io' | 'settings'>,
  key: SshKey,
): Promise<Identity> {
  const { publicKey, privatePath } = key;
  const byAgent = (): Identity | undefined => {
    const blob = blobOf(publicKey);
    const isHeld = settings.sshAgent !== undefined && agentKeys(settings).some((held) => blobOf(held) === blob);
    return isHeld ? { agent: settings.sshAgent, publicKey } : undefined;
  };
  const text = privatePath === undefined ? undefined : privateText(privatePath, settings);
  if (privatePath === undefined || text === undefined) {
    const held = byAgent();
    if (held !== undefined) return held;
    const where = privatePath === undefined ? '' : `not at ${privatePath}, and `;
    throw unusable(`The private half of the SSH key ${key.from} is ${where}not in ssh-agent.`);
  }
  const { readLoginKey } = await import('../../functions/remote/login-key.js');
  const plain = readLoginKey(text);
  if (plain.kind === 'usable') return plain;
  const held = byAgent();
  if (held !== undefined) return held;
  if (plain.kind === 'unusable') throw unusable(`The SSH key ${privatePath} cannot be used: ${plain.why}.`);
  if (!canAsk(io)) {
    throw unusable(`The SSH key ${privatePath} has a passphrase, and there is no terminal to ask for it on.`);
  }
  for (let tries = 0; tries < mostTries; tries += 1) {
    const passphrase = await askPassphrase(`Passphrase of ${privatePath}: `, io);
    if (passphrase === undefined) throw new Problem('interrupted', 'Interrupted.');
    settings.redactor.register(passphrase);
    const unlocked = readLoginKey(text, passphrase);
    if (unlocked.kind === 'usable') return unlocked;
  }
  throw unusable(`That is not the passphrase of ${privatePath}.`);
}

function privateText(path: string, settings: Settings): string | undefined {
  try {
    return readSecretTextIfThere(placeOf(path, settings), 'SSH private key', settings);
  } catch (error) {
    throw unusable(`The SSH key ${path} cannot be read: ${reason(error)}.`);
  }
}

const blobOf = (publicKey: string): string => publicKey.split(' ')[1] ?? '';

const unusable = (detail: string): Problem =>
  new Problem('bad-input', detail, {
    advice: 'Hand it to ssh-agent (ssh-add), or name another with --ssh-private-key-path.',
  });
