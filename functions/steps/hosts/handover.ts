/**
 * Puts the config, encrypted secrets and age identity of a datacenter on the jumpbox, and once for all the options, so that a
 * recovery needs to be given none. Secrets that the hosts wrote there are kept, because the file there decides their values.
 */
import * as z from 'zod';
import { optionsOnJumpbox } from '../../../shared/install-config/on-jumpbox.js';
import type { SecretsFile } from '../../../shared/install-config/secrets.js';
import { sha256 } from '../../../shared/sha256.js';
import { done, of, type StepCall } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { ageIdentity, ageIdentitySecret } from '../config/age-identity.js';
import { config } from '../config/config.js';
import { plannedFiles } from '../config/planned-files.js';
import { datacenterOf, datacenters } from '../topology.js';
import { hostSetup } from './host-setup.js';
import { defineHostStep, hostNeeds, reach } from './reach.js';
import { mustRun } from './script.js';

const making = () => import('../config/making.js');

const needs = { ...hostNeeds(), jumpboxSetup: of(hostSetup, () => ['jumpbox']), config, ageIdentity } as const;
type Call = StepCall<typeof needs, typeof datacenters>;

export const handover = defineHostStep({
  name: 'handover',
  title: 'Config on the jumpbox',
  needs,
  each: datacenters,
  describe: (options, key) => {
    const { config, secrets, identity } = datacenterOf(options, key).files;
    const paths = [config, secrets, identity, ...(isFirst(key) ? [optionsOnJumpbox] : [])];
    return paths.map((path) => `${path} on the jumpbox`);
  },
  content: (by, key) => [plannedFiles(by, key), isFirst(key) ? by.options : undefined],
  output: z.object({ configPath: z.string(), secretsPath: z.string(), sha256: z.string() }),
  async observe(call) {
    const { configMeaning, sameContent } = await making();
    const host = await reach(call);
    const { paths, wanted, found } = await look(call, host);
    if (found.config !== wanted.config || found.identity !== wanted.identity) return undefined;
    if (found.options !== wanted.options) return undefined;
    if (found.secrets === undefined || !sameContent(found.secrets, wanted.secrets)) return undefined;
    return { configPath: paths.config, secretsPath: paths.secrets, sha256: sha256(configMeaning(wanted.config)) };
  },
  async run(call) {
    const { encryptSecrets, sameContent, sopsMeans } = await making();
    const host = await reach(call);
    const { paths, wanted, found, like } = await look(call, host);
    await mustRun(host, 'Making the folder for secrets', 'mkdir -p -m 700 "$1"', [paths.secretsDir]);
    // Upload the identity first. A secrets file that nothing there can read would stop an install half-way.
    if (found.identity !== wanted.identity) await host.upload(paths.identity, wanted.identity, { mode: 0o600 });
    if (found.secrets === undefined || !sameContent(found.secrets, wanted.secrets)) {
      const text = await encryptSecrets(
        wanted.secrets,
        call.needs.ageIdentity.recipient,
        sopsMeans(call.context),
        like,
      );
      await host.upload(paths.secrets, text, { mode: 0o600 });
    }
    if (found.config !== wanted.config) await host.upload(paths.config, wanted.config, { mode: 0o644 });
    if (wanted.options !== undefined && found.options !== wanted.options)
      await host.upload(optionsOnJumpbox, wanted.options, { mode: 0o600 });
    return done;
  },
});

const isFirst = (key: string): boolean => key === 'dc1';

async function look(call: Call, host: Host) {
  const { configFile, decryptSecrets, isWrittenByHosts, mergeSecrets, optionsText, secretsFile } = await making();
  const {
    files,
    secrets,
    needs: {
      ageIdentity: { secretVersion },
    },
    bootstrap,
    key,
  } = call;
  const paths = datacenterOf(bootstrap.options, key).files;
  const read = async (path: string) => (await host.read(path))?.toString();
  const [identity, configText, secretsText, standingConfig, standingSecrets, standingIdentity, standingOptions] =
    await Promise.all([
      secrets.read(ageIdentitySecret, secretVersion),
      files.read(configFile(key)),
      files.read(secretsFile(key)),
      read(paths.config),
      read(paths.secrets),
      read(paths.identity),
      isFirst(key) ? read(optionsOnJumpbox) : undefined,
    ]);
  if (configText === undefined || secretsText === undefined) throw new Error(`the files of ${key} are not stored`);
  const standing =
    standingSecrets === undefined
      ? undefined
      : await decryptSecrets(standingSecrets, identity, `${paths.secrets} on the jumpbox`);
  const given = await decryptSecrets(secretsText, identity);
  const hostsOwn: SecretsFile = {
    version: 1,
    secrets: standing?.secrets.filter(({ name }) => isWrittenByHosts(name)) ?? [],
  };
  return {
    paths,
    wanted: {
      config: configText,
      // Keeps the secrets that hosts wrote. Other secrets that nobody gives any more are dropped.
      secrets: mergeSecrets(hostsOwn, given) ?? given,
      identity: `${identity}\n`,
      options: isFirst(key) ? optionsText(bootstrap.id, bootstrap.options) : undefined,
    },
    found: { config: standingConfig, secrets: standing, identity: standingIdentity, options: standingOptions },
    like: { text: standingSecrets ?? secretsText, identity },
  };
}
