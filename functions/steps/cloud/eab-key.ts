/**
 * Gets credentials for Google's public CA once and keeps them. An unused key expires after a week, a used one stays. A key
 * registers one ACME account, and each datacenter has its own account.
 */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { done, type StepSecrets } from '../../engine/step.js';
import { datacenters } from '../topology.js';
import { apis } from './apis.js';
import { EabKeyOutput } from './outputs.js';
import { defineProjectStep } from './settling.js';

const usesCloudAcme = ({ cloudAcmeIssuer }: BootstrapOptions): boolean => cloudAcmeIssuer;

/** Name of the secret within the bootstrap. */
const secretName = (datacenter: string) => `acme-eab-key-${datacenter}`;
const EabKey = z.object({ keyId: z.string(), macKey: z.string() });

/** The MAC key is base64url, as ACME clients take it. */
export const readEabKey = async (
  secrets: StepSecrets,
  datacenter: string,
  version: string,
): Promise<z.infer<typeof EabKey>> => EabKey.parse(await secrets.readJson(secretName(datacenter), version));

export const eabKey = defineProjectStep({
  name: 'eab-key',
  title: 'ACME account credentials',
  lane: 'cloud',
  needs: { apis },
  when: usesCloudAcme,
  each: datacenters,
  describe: (_options, key) => [`external account key of Google's public CA for ${key}, kept in Secret Manager`],
  output: EabKeyOutput,

  async observe({ secrets, key }) {
    const secretVersion = await secrets.find(secretName(key));
    if (secretVersion === undefined) return undefined;
    return { keyId: (await readEabKey(secrets, key, secretVersion)).keyId, secretVersion };
  },

  /** A crash between the two calls costs one unknown key, which expires unused. */
  async run({ context, bootstrap, secrets, key }) {
    const { keyId, macKey } = await context.cloud.publicCa.createKey(bootstrap.projectId);
    await secrets.write(secretName(key), JSON.stringify({ keyId, macKey }));
    return done;
  },
  goes: 'undo',
  // An earlier command may have asked for it.
  removes: ({ id, options }, key) => [
    `secret ${id}-${secretName(key)}${usesCloudAcme(options) ? '' : ', if there is one'}`,
  ],
  async undo({ secrets, key }) {
    await secrets.remove(secretName(key));
    return done;
  },
});
