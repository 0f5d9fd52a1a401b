/** The Google access token of the account that gcloud is logged in with. gcloud itself renews it. */
import { execFile } from 'node:child_process';
import * as z from 'zod';
import type { Settings } from '../settings.js';

export interface AccessToken {
  readonly token: string;
  /** Milliseconds since 1970. Undefined: nobody says. */
  readonly expiresAt: number | undefined;
  /** E-mail. Undefined: nobody says. */
  readonly account: string | undefined;
}

export type GcloudAnswer<T> = { readonly found: T } | { readonly why: string; readonly isMissing: boolean };

const timeoutMs = 60_000;

/** Of `gcloud config config-helper`, which kubectl's plugin reads too. */
const Helper = z.object({
  configuration: z.object({ properties: z.object({ core: z.object({ account: z.string().optional() }).optional() }) }),
  credential: z.object({ access_token: z.string().min(1), token_expiry: z.iso.datetime().nullish() }),
});

/** `fresh`: the former token was refused. */
export function askGcloud(
  { env, folder }: Pick<Settings, 'env' | 'folder'>,
  fresh: boolean,
  interrupted: AbortSignal | undefined,
): Promise<GcloudAnswer<AccessToken>> {
  const argv = ['config', 'config-helper', '--format=json', fresh ? '--force-auth-refresh' : '--min-expiry=10m'];
  const options = {
    env: { ...env, CLOUDSDK_CORE_DISABLE_PROMPTS: '1' },
    cwd: folder,
    timeout: timeoutMs,
    maxBuffer: 1024 * 1024,
    ...(interrupted !== undefined && { signal: interrupted }),
  };
  return new Promise((resolve, reject) => {
    execFile('gcloud', argv, options, (error, stdout, stderr) => {
      if (error === null) return resolve(readHelper(stdout));
      if (interrupted?.aborted === true) return reject(interrupted.reason);
      if (error.code === 'ENOENT') return resolve({ why: 'gcloud is not on the PATH', isMissing: true });
      if (error.killed === true) return resolve({ why: 'gcloud gave no answer in time', isMissing: false });
      resolve({ why: whyOf(stderr), isMissing: false });
    });
  });
}

function readHelper(text: string): GcloudAnswer<AccessToken> {
  let read: z.infer<typeof Helper> | undefined;
  try {
    read = Helper.safeParse(JSON.parse(text)).data;
  } catch {
    // Quoting it might show a token.
  }
  if (read === undefined) return { why: 'gcloud config config-helper answers in another form', isMissing: false };
  const { credential, configuration } = read;
  const { token_expiry: expiry } = credential;
  return {
    found: {
      token: credential.access_token,
      expiresAt: typeof expiry === 'string' ? Date.parse(expiry) : undefined,
      account: configuration.properties.core?.account,
    },
  };
}

/** The first sentence of gcloud's error: `ERROR: (gcloud.config.config-helper) You do not … selected.` */
const whyOf = (stderr: string): string => {
  const said = /^ERROR: (?:\([\w.-]+\) )?(.+)$/m.exec(stderr)?.[1]?.trim() ?? '';
  return `gcloud says: ${said === '' ? 'nothing' : said.replace(/\.$/, '')}`;
};
