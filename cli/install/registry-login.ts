/**
 * The credentials for the registry that the config names, in a file that skopeo reads. They come from the secrets file, or as
 * a token from Google's metadata server. The file is in memory, and only as long as needed.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { findSecret } from '../../shared/install-config/secrets.js';
import { Problem } from '../../shared/problems.js';
import { secretMode } from '../files/files.js';
import type { InstallInputs } from './inputs.js';

export interface RegistryLogin {
  /** The path of the file, valid for at least some minutes. */
  authFile(): Promise<string>;
  end(): void;
}

type Env = Readonly<Record<string, string | undefined>>;

export function createRegistryLogin(inputs: InstallInputs, env: Env, runtimeFolder: string): RegistryLogin {
  const { registry } = inputs.config;
  const host = registry.server.split('/')[0] ?? '';
  mkdirSync(runtimeFolder, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(runtimeFolder, 'registry-'));
  const path = join(folder, 'auth.json');
  let goodUntil = 0;
  return {
    async authFile() {
      if (Date.now() < goodUntil) return path;
      const user = field(inputs, 'registryUsername');
      const { password, seconds } =
        registry.type === 'artifact-registry'
          ? await accessToken(env)
          : { password: field(inputs, 'registryPassword'), seconds: Number.POSITIVE_INFINITY };
      inputs.redactor.register(password);
      inputs.redactor.register(`${user}:${password}`);
      const auth = Buffer.from(`${user}:${password}`).toString('base64');
      writeFileSync(path, JSON.stringify({ auths: { [host]: { auth } } }), { mode: secretMode });
      goodUntil = Date.now() + (seconds - marginSeconds) * 1000;
      return path;
    },
    end: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The metadata server issues a new token once the present one has less time left than this. */
const marginSeconds = 240;

function field({ secrets }: InstallInputs, name: string): string {
  const value = findSecret(secrets, name)?.fields?.password;
  if (value !== undefined && value !== '') return value;
  throw new Problem('bad-input', `The secrets file has no ${name}, which opens the registry.`);
}

const tokenUrl = 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token';
const Token = z.object({ access_token: z.string().min(1), expires_in: z.number() });

async function accessToken(env: Env): Promise<{ password: string; seconds: number }> {
  const args = ['--fail', '--silent', '--show-error', '--max-time', '20', '--retry', '3'];
  const { stdout } = await promisify(execFile)('curl', [...args, '--header', 'Metadata-Flavor: Google', tokenUrl], {
    env,
  }).catch((error: { readonly stderr?: string; readonly message: string }): never => {
    throw new Problem(
      'install-failed',
      `This machine's identity gets no token: ${error.stderr?.trim() || error.message}`,
      {
        advice: 'Run this on the jumpbox, which carries the identity that may write to the repository.',
      },
    );
  });
  const { access_token: password, expires_in: seconds } = tokenIn(stdout);
  return { password, seconds };
}

/** The parser's own message would quote it. */
function tokenIn(text: string): z.infer<typeof Token> {
  try {
    return Token.parse(JSON.parse(text));
  } catch {
    throw new Problem('install-failed', "This machine's metadata server answered something else than a token.");
  }
}
