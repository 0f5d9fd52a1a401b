/** Logins for registries, from the files where skopeo looks for them. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface Login {
  readonly user: string;
  readonly password: string;
}

interface AuthFile {
  readonly auths?: Readonly<Record<string, { readonly auth?: string }>>;
}

function authsIn(path: string): NonNullable<AuthFile['auths']> {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as AuthFile).auths ?? {};
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(`reading JSON file "${path}": ${(error as Error).message}`);
  }
}

function filesOf(named: string | undefined): string[] {
  const { env } = process;
  const given = named || env['REGISTRY_AUTH_FILE'];
  const runtime = env['XDG_RUNTIME_DIR'] || `/run/containers/${process.getuid?.()}`;
  const own = env['XDG_RUNTIME_DIR'] ? 'containers/auth.json' : 'auth.json';
  const config = env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  return [given || join(runtime, own), join(config, 'containers/auth.json'), join(homedir(), '.docker/config.json')];
}

/** The login for the image itself, for a path above it, or for the host, in that order. `file` is searched first. */
export function loginFor(host: string, image: string, file: string | undefined): Login | undefined {
  const parts = [host, ...image.split('/')];
  const keys = parts.map((_, index) => parts.slice(0, parts.length - index).join('/'));
  for (const path of filesOf(file)) {
    const auths = authsIn(path);
    const auth = keys.map((key) => auths[key]?.auth).find((found) => found !== undefined);
    if (auth === undefined) continue;
    const [user = '', ...password] = Buffer.from(auth, 'base64').toString('utf8').split(':');
    return { user, password: password.join(':') };
  }
  return undefined;
}
