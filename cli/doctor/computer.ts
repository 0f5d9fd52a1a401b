/** Doctor's checks of this computer: config file, settings, the SSH client and key. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { flags } from '../../shared/bootstrap/options.js';
import { type ConfigValues, configPath, readConfig } from '../files/config-file.js';
import { placeOf, reason } from '../files/files.js';
import { readSecretTextIfThere } from '../files/secret-text.js';
import type { CommandContext } from '../frame/command.js';
import { agentKeys, findSshKey, sshKeyFaults } from '../identity/ssh-key.js';
import { sshProxyOf } from '../settings.js';
import { type Check, failed, failedBy, ok, warning } from './check.js';

export async function fileChecks({ settings }: CommandContext): Promise<Check[]> {
  const path = configPath(settings.configFolder);
  let values: ConfigValues;
  try {
    values = await readConfig(settings);
  } catch (error) {
    return [failedBy('config file', error), ...settingChecks(settings)];
  }
  return [fileCheck(path, values), ...settingChecks(settings)];
}

function fileCheck(path: string, values: ConfigValues): Check {
  const name = 'config file';
  if (Object.keys(values).length === 0) return ok(name, `nothing stands in ${path}`);
  const mode = statSync(path).mode & 0o777;
  if (values['oauth.clientSecret'] !== undefined && (mode & 0o077) !== 0) {
    return warning(name, `${path} can be read by others (${mode.toString(8)})`, `chmod 600 ${path}`);
  }
  return ok(name, path);
}

const settingNames = [
  ...['PLINTH_ENDPOINT', 'PLINTH_TOKEN', 'PLINTH_ISSUER', 'PLINTH_OAUTH_CLIENT_ID', 'PLINTH_SSH_PROXY'],
  ...['PLINTH_ACCESS_TOKEN', 'PLINTH_IAP_TUNNEL_URL', 'PLINTH_SERVICE_ACCOUNT'],
];

function settingChecks(settings: CommandContext['settings']): Check[] {
  const name = 'settings';
  try {
    sshProxyOf(settings);
  } catch (error) {
    return [failedBy(name, error)];
  }
  const set = settingNames.filter((variable) => (settings.env[variable] ?? '') !== '');
  return set.length === 0 ? [] : [ok(name, `${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} set`)];
}

export async function sshChecks(call: CommandContext): Promise<Check[]> {
  return [clientCheck(call), await keyCheck(call)];
}

function clientCheck({ settings: { env } }: CommandContext): Check {
  const name = 'SSH client';
  try {
    execFileSync('ssh', ['-V'], { stdio: 'ignore', timeout: 5000, env });
    return ok(name, 'ssh is there');
  } catch {
    return warning(
      name,
      'there is no ssh in PATH',
      'Install OpenSSH, which opens machines: apt-get install openssh-client.',
    );
  }
}

export async function keyCheck({ settings, given }: CommandContext): Promise<Check> {
  const name = 'SSH key';
  const [fault] = await sshKeyFaults(given, settings);
  if (fault !== undefined) return failed(name, 'bad-input', `${fault.path} ${fault.message}`);
  const key = findSshKey(given, flags.sshPublicKeyPath.default, settings);
  // `keep` means that the key was generated just now.
  if (key.keep !== undefined) return ok(name, 'there is none yet; the first bootstrap makes one');
  const inAgent = agentKeys(settings).some((held) => held.split(' ')[1] === key.publicKey.split(' ')[1]);
  if (inAgent) return ok(name, `${key.from}, held by ssh-agent`);
  const advice = 'Hand its private half to ssh-agent (ssh-add), or name another with --ssh-private-key-path.';
  try {
    const text =
      key.privatePath === undefined
        ? undefined
        : readSecretTextIfThere(placeOf(key.privatePath, settings), 'SSH private key', settings);
    if (text === undefined) return warning(name, `${key.from}: its private half is not beside it`, advice);
    const { publicHalfOf, readLoginKey } = await import('../../functions/remote/login-key.js');
    const read = readLoginKey(text);
    if (read.kind === 'unusable') return warning(name, `${key.privatePath}: ${read.why}`, advice);
    const half = publicHalfOf(text);
    if (half !== undefined && half !== key.publicKey.split(' ')[1]) {
      const mend = `Write its public half anew: ssh-keygen -y -f ${key.privatePath} > ${key.from}. Or name another pair with --ssh-private-key-path.`;
      return warning(name, `${key.privatePath} does not belong to the public key in ${key.from}`, mend);
    }
    return ok(name, `${key.privatePath}${read.kind === 'locked' ? ', which asks for its passphrase' : ''}`);
  } catch (error) {
    return warning(name, `${key.privatePath}: ${reason(error)}`, advice);
  }
}
