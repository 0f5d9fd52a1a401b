/**
 * Writes the two files of a datacenter: config.yaml and the encrypted secrets. They combine the outputs of other steps, the
 * existing files with keys and values added by hand, and the flags. A file is written only if its content differs.
 */
import * as z from 'zod';
import { sha256 } from '../../../shared/sha256.js';
import { defineStep, done, of } from '../../engine/step.js';
import { address } from '../cloud/address.js';
import { eabKey } from '../cloud/eab-key.js';
import { repository } from '../cloud/repository.js';
import { vm } from '../cloud/vm.js';
import { zone } from '../cloud/zone.js';
import { datacenterOf, datacenters, vmsOf } from '../topology.js';
import { ageIdentity } from './age-identity.js';
import { plannedFiles } from './planned-files.js';
import { secrets } from './secrets.js';

const making = () => import('./making.js');

export const configNeeds = {
  ageIdentity,
  /** A second datacenter copies from the first. */
  secrets: of(secrets, (_options, key) => (key === 'dc1' ? ['dc1'] : ['dc1', key])),
  vms: of(vm, (options, key) => [
    'jumpbox',
    ...(options.customPgIp === undefined ? ['postgres'] : []),
    ...vmsOf(options, key).flatMap(({ name, role }) => (role === 'ceph' || role === 'k0s' ? [name] : [])),
  ]),
  addresses: of(address, (options, key) => Object.values(datacenterOf(options, key).addresses)),
  zone,
  repository,
  eabKey,
} as const;

export const config = defineStep({
  name: 'config',
  title: 'Install config and secrets file',
  lane: 'cloud',
  needs: configNeeds,
  each: datacenters,
  describe: (options, key) => {
    const { name, suffix } = datacenterOf(options, key);
    return [`config${suffix}.yaml of datacenter ${name}`, `prod${suffix}.vault.yaml, encrypted with age`];
  },
  content: plannedFiles,
  output: z.object({
    file: z.string(),
    secretsFile: z.string(),
    /** Hash of what the config means, whatever its comments. */
    sha256: z.string(),
    /** Hash of the encrypted text. A hash of the plain text would let people guess a short secret. */
    secretsSha256: z.string(),
    /** What a person still has to add before an install. */
    missing: z.array(z.string()),
  }),
  async observe(call) {
    const { configFile, configMeaning, missingBeforeInstall, sameContent, sameForm, secretsFile, wantedFiles } =
      await making();
    // Everybody waits for these files. Without them there is nothing to compare, so what they should hold is worked out once.
    const standing = await Promise.all([configFile, secretsFile].map((fileOf) => call.files.read(fileOf(call.key))));
    if (standing.includes(undefined)) return undefined;
    const wanted = await wantedFiles(call);
    const { configText, secretsText, secrets: writtenSecrets } = wanted.standing.written;
    if (configText === undefined || secretsText === undefined || writtenSecrets === undefined) return undefined;
    if (wanted.config === undefined) return undefined;
    if (configText !== wanted.textOf(wanted.config) || !sameContent(writtenSecrets, wanted.secrets)) return undefined;
    if (!sameForm(secretsText, wanted.like?.text ?? secretsText)) return undefined;
    return {
      file: configFile(call.key),
      secretsFile: secretsFile(call.key),
      sha256: sha256(configMeaning(configText)),
      secretsSha256: sha256(secretsText),
      missing: missingBeforeInstall(
        wanted.config,
        wanted.secrets,
        datacenterOf(call.bootstrap.options, call.key).suffix,
      ),
    };
  },
  async run(call) {
    const {
      checkPairs,
      configFile,
      encryptSecrets,
      newServerCertificate,
      sameContent,
      sameForm,
      secretsFile,
      sopsMeans,
      wantedFiles,
    } = await making();
    const { context, key, files } = call;
    const wanted = await wantedFiles(call);
    const { standing, config: ready, secrets: wantedSecrets } = wanted;
    const content =
      ready ??
      wanted.withServerCertificate(
        await newServerCertificate(wanted, { now: context.clock.now(), random: context.random }),
      );
    checkPairs(key, content, wantedSecrets);
    // Write the config last. If it exists, its secrets exist too.
    const { secrets: stands, secretsText } = standing.written;
    const { like } = wanted;
    const isSame = stands !== undefined && sameContent(stands, wantedSecrets);
    if (!(isSame && secretsText !== undefined && sameForm(secretsText, like?.text ?? secretsText))) {
      const text = await encryptSecrets(wantedSecrets, call.needs.ageIdentity.recipient, sopsMeans(context), like);
      await files.write(secretsFile(key), text);
    }
    const text = wanted.textOf(content);
    if (text !== standing.written.configText) await files.write(configFile(key), text);
    return done;
  },
  goes: 'nothing',
  summary: ({ missing }) =>
    missing.length === 0 ? 'ready' : `ready; still missing before an install: ${missing.join(', ')}`,
});
