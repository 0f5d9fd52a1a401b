/**
 * Puts the config, encrypted secrets and age identity of a datacenter on the jumpbox, and once for all the options, so that a
 * recovery needs to be given none. Secrets that the hosts wrote there are kept, because the file there decides their values.
 * With another `--secrets-dir`, the files move: what is in the former folder is read, and then deleted there.
 */
import * as z from 'zod';
import { flags } from '../../../shared/bootstrap/options.js';
import { type FilesOnJumpbox, optionsOnJumpbox, secretsFilesIn } from '../../../shared/install-config/on-jumpbox.js';
import type { SecretsFile } from '../../../shared/install-config/secrets.js';
import { sha256 } from '../../../shared/sha256.js';
import { done, of, type StepCall } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { ageIdentity, ageIdentitySecret } from '../config/age-identity.js';
import { config } from '../config/config.js';
import { plannedFiles } from '../config/planned-files.js';
import { datacenterOf, datacenters, datacentersOf } from '../topology.js';
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
  clears: (options, key) => {
    const { secrets, identity } = datacenterOf(options, key).files;
    return [secrets, identity].map((path) => `${path} on the jumpbox`);
  },
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
    const { paths, wanted, found, former, like } = await look(call, host);
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
    // A recovery finds the secrets by the options. So these are written before the former files are deleted.
    if (wanted.options !== undefined && found.options !== wanted.options)
      await host.upload(optionsOnJumpbox, wanted.options, { mode: 0o600 });
    if (former !== undefined) await deleteFormer(host, former, wanted.identity.trim());
    // The config names the former folder, so it is written last: after a crash, the next run still knows it.
    if (found.config !== wanted.config) await host.upload(paths.config, wanted.config, { mode: 0o644 });
    return done;
  },
});

const isFirst = (key: string): boolean => key === 'dc1';

/** An identity that is not this bootstrap's stays, and so does a folder with files of others. */
const deleteFormer = (host: Host, { secretsDir, secrets, identity }: Former, own: string): Promise<string> =>
  mustRun(host, 'Deleting the files in the former folder of secrets', formerDeleted, [secretsDir, secrets, identity], {
    stdin: `${own}\n`,
  });

const formerDeleted = `set -eu
[ -d "$1" ] || exit 0
rm -f -- "$2"
if [ -f "$3" ] && grep -qxFf - "$3"; then rm -f -- "$3"; fi
rmdir -- "$1" 2>/dev/null || true`;

type Former = Pick<FilesOnJumpbox, 'secretsDir' | 'secrets' | 'identity'>;

/** Where the config on the jumpbox says that the secrets are, unless files of these options are there. */
async function formerOf({ bootstrap: { options } }: Call, config: string | undefined): Promise<Former | undefined> {
  const { baseDirIn } = await making();
  const folder = config === undefined ? undefined : baseDirIn(config);
  const isWanted = datacentersOf(options).some(({ files }) => files.secretsDir === folder);
  const isFolder = flags.secretsDir.schema.safeParse(folder).success;
  return folder === undefined || isWanted || !isFolder ? undefined : secretsFilesIn(folder);
}

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
  const [identity, configText, secretsText, standingConfig, secretsThere, standingIdentity, standingOptions] =
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
  const opened = async (text: string | undefined, path: string) =>
    text === undefined ? undefined : decryptSecrets(text, identity, `${path} on the jumpbox`);
  const former = await formerOf(call, standingConfig);
  const formerText = former === undefined ? undefined : await read(former.secrets);
  const [there, moved] = await Promise.all([
    opened(secretsThere, paths.secrets),
    opened(formerText, former?.secrets ?? ''),
  ]);
  const standing = there ?? moved;
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
    former,
    found: { config: standingConfig, secrets: there, identity: standingIdentity, options: standingOptions },
    like: { text: secretsThere ?? formerText ?? secretsText, identity },
  };
}
