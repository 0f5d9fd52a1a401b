/** Credentials for Google's public CA, asked for once and then kept: an unused key dies after a week, a used one lives. */
import { z } from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { done, type StepSecrets } from '../../engine/step.js';
import { apis } from './apis.js';
import { EabKeyOutput } from './outputs.js';
import { defineProjectStep } from './settling.js';

const usesCloudAcme = ({ cloudAcmeIssuer }: BootstrapOptions): boolean => cloudAcmeIssuer;

/** Name of the secret within the bootstrap. */
export const eabKeySecret = 'acme-eab-key';
const EabKey = z.object({ keyId: z.string(), macKey: z.string() });

/** The MAC key is base64url, as ACME clients take it. */
export const readEabKey = async (secrets: StepSecrets, version: string): Promise<z.infer<typeof EabKey>> =>
  EabKey.parse(JSON.parse(await secrets.read(eabKeySecret, version)));

export const eabKey = defineProjectStep({
  name: 'eab-key',
  title: 'ACME account credentials',
  lane: 'cloud',
  needs: { apis },
  when: usesCloudAcme,
  describe: () => ["external account key of Google's public CA, kept in Secret Manager"],
  output: EabKeyOutput,

  async observe({ secrets }) {
    const secretVersion = await secrets.find(eabKeySecret);
    if (secretVersion === undefined) return undefined;
    return { keyId: (await readEabKey(secrets, secretVersion)).keyId, secretVersion };
  },

  /** A crash between the two calls costs a key that nobody knows, and which dies unused. */
  async run({ context, bootstrap, secrets }) {
    const { keyId, macKey } = await context.cloud.publicCa.createKey(bootstrap.projectId);
    await secrets.write(eabKeySecret, JSON.stringify({ keyId, macKey }));
    return done;
  },
  goes: 'nothing',
  summary: ({ keyId }) => `key ${keyId}`,
});
