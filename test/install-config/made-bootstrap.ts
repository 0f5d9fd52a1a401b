/**
 * A bootstrap of which only the config steps run, each as the engine runs it (observe, run, observe), over secrets and files in
 * memory; what the cloud steps leave is given. For tests of functions/steps/config.
 */

import { expect } from 'chai';
import type { Context, StepContext } from '../../functions/context.js';
import type { BootstrapFacts, StepFiles, StepSecrets } from '../../functions/engine/step.js';
import { realRandom } from '../../functions/host/random.js';
import { ageIdentity } from '../../functions/steps/config/age-identity.js';
import { config } from '../../functions/steps/config/config.js';
import { machineKey } from '../../functions/steps/config/machine-key.js';
import { secrets } from '../../functions/steps/config/secrets.js';
import { addressesOf, datacentersOf, repositoryServer, vmsOf } from '../../functions/steps/topology.js';
import { createTestKeys } from '../../local/stack/test-keys.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { type InstallConfig, readInstallConfig } from '../../shared/install-config/config.js';
import { decryptSecrets, findSecret, type SecretsFile } from '../../shared/install-config/secrets.js';
import { makeOptions } from './make-options.js';

export const settings = {
  forge1ApiUrl: 'https://api.forge1.example',
  registryUrls: { forge1: 'https://ghcr.io' },
  forgeUrls: {
    forge1: 'https://github.com',
    forge2: 'https://gitlab.com',
    forge3: 'https://bitbucket.org',
    forge4: 'https://dev.azure.com',
  },
};

export interface DatacenterFiles {
  readonly configText: string;
  readonly secretsText: string;
  readonly config: InstallConfig;
  readonly secrets: SecretsFile;
  /** Content of a file secret, or its password. */
  value(name: string): string | undefined;
}

export interface MadeBootstrap {
  /** Runs all config steps once more; changes apply from now on. */
  go(changes?: Changes): Promise<Record<string, DatacenterFiles>>;
  readonly identity: () => Promise<string>;
  /** Versions by name. */
  readonly stored: Map<string, string[]>;
  readonly files: Map<string, string>;
  /** Everything that steps returned as output. */
  readonly outputs: unknown[];
  /** How often `run` of a step was called, by instance. */
  readonly runs: string[];
}

interface Changes {
  readonly options?: Partial<BootstrapOptions>;
  readonly caller?: Readonly<Record<string, string>>;
  readonly base?: BootstrapFacts['base'];
  readonly postgresIp?: string;
  readonly now?: Date;
}

/** For `before`: the first test process on a machine makes the pool of keys, which takes its time. */
export async function keysAtHand(this: Mocha.Context): Promise<void> {
  this.timeout(240_000);
  await createTestKeys().make('rsa-4096');
}

export const internalIp = (index: number): string => `10.10.0.${index + 2}`;

/** Secrets are kept in memory (`stored`) unless `elsewhere` is given. */
export function makeBootstrap(start: Changes = {}, elsewhere?: StepSecrets): MadeBootstrap {
  let now: Changes = start;
  const stored = new Map<string, string[]>();
  const fileTexts = new Map<string, string>();
  const outputs: unknown[] = [];
  const runs: string[] = [];

  const inMemory: StepSecrets = {
    caller: async () => now.caller ?? {},
    find: async (name) => (stored.has(name) ? '1' : undefined),
    async write(name, payload) {
      expect(Buffer.byteLength(payload)).to.be.at.most(65_536);
      const versions = [...(stored.get(name) ?? []), payload];
      stored.set(name, versions);
      return String(versions.length);
    },
    async read(name, version) {
      const payload = stored.get(name)?.[Number(version) - 1];
      if (payload === undefined) throw new Error(`no version ${version} of ${name}`);
      return payload;
    },
    register: () => undefined,
    readJson: async (name, version) => JSON.parse(await inMemory.read(name, version)) as unknown,
    remove: async (name) => void stored.delete(name),
  };
  const store = elsewhere ?? inMemory;
  const files: StepFiles = {
    read: async (name) => fileTexts.get(name),
    write: async (name, content) => void fileTexts.set(name, content),
  };

  const go = async (changes: Changes = {}): Promise<Record<string, DatacenterFiles>> => {
    now = { ...now, ...changes, options: { ...now.options, ...changes.options } };
    const options = makeOptions(now.options);
    const context = {
      config: settings,
      clock: { now: () => now.now ?? new Date('2026-03-04T05:06:07Z'), wait: async () => {} },
      random: realRandom,
      keys: createTestKeys(),
    } as unknown as Context as StepContext;
    const bootstrap: BootstrapFacts = {
      id: 'b1',
      name: options.projectName,
      projectId: 'my-project-abcd1234',
      owner: 'alice@example.com',
      ownerMember: 'user:alice@example.com',
      sharedMembers: [],
      formerMembers: [],
      options,
      machineAccess: 'direct',
      sshSourceRanges: ['198.51.100.0/24'],
      loadBalancers: 'external',
      sshPublicKey: 'ssh-ed25519 AAAA alice',
      base: now.base ?? {},
      createdAt: new Date('2026-03-04T05:00:00Z'),
      deadlineAt: new Date('2026-03-04T07:00:00Z'),
      generation: 1,
    };
    const drive = async <O>(
      // biome-ignore lint/suspicious/noExplicitAny: steps of any needs; the needs are given as literals.
      step: { name: string; observe(call: any): Promise<O | undefined>; run(call: any): Promise<unknown>; output: any },
      key: string,
      needs: object,
    ): Promise<O> => {
      const call = {
        context,
        bootstrap,
        key,
        needs,
        secrets: store,
        files,
        attempt: 0,
        requestId: () => '',
        signal: new AbortController().signal,
      };
      let output = await step.observe(call);
      if (output === undefined) {
        runs.push(key === '' ? step.name : `${step.name}:${key}`);
        await step.run(call);
        output = await step.observe(call);
      }
      if (output === undefined) throw new Error(`${step.name} sees nothing of what it made`);
      step.output.parse(output);
      outputs.push(output);
      return output;
    };

    const age = await drive(ageIdentity, '', {});
    await drive(machineKey, '', {});
    const secretsOf: Record<string, unknown> = {};
    for (const { key } of datacentersOf(options)) secretsOf[key] = await drive(secrets, key, { ageIdentity: age });
    const vms = Object.fromEntries(
      vmsOf(options).map(({ name }, index) => [
        name,
        { name, internalIp: name === 'postgres' ? (now.postgresIp ?? internalIp(index)) : internalIp(index) },
      ]),
    );
    const addresses = Object.fromEntries(
      addressesOf(options).map((name, index) => [name, { name, address: `203.0.113.${index + 1}` }]),
    );
    const result: Record<string, DatacenterFiles> = {};
    for (const { key } of datacentersOf(options)) {
      if (options.cloudAcmeIssuer) {
        stored.set(`acme-eab-key-${key}`, [JSON.stringify({ keyId: `key-${key}`, macKey: `mac-key-${key}` })]);
      }
      const output = await drive(config, key, {
        ageIdentity: age,
        secrets: secretsOf,
        vms,
        addresses,
        zone: { project: 'dns-project', zone: 'tool-testing', dnsName: 'example.com.', nameServers: [] },
        repository:
          options.registryType === 'artifact-registry'
            ? { server: repositoryServer(options, bootstrap.projectId) }
            : undefined,
        eabKey: options.cloudAcmeIssuer ? { keyId: `key-${key}`, secretVersion: '1' } : undefined,
      });
      result[key] = await read(output.file, output.secretsFile);
    }
    return result;
  };

  const identity = () => store.read('age-identity', '1');
  const read = async (file: string, secretsFile: string): Promise<DatacenterFiles> => {
    const [configText, secretsText] = [fileTexts.get(file) ?? '', fileTexts.get(secretsFile) ?? ''];
    const decrypted = await decryptSecrets(secretsText, await identity());
    return {
      configText,
      secretsText,
      config: readInstallConfig(configText),
      secrets: decrypted,
      value(name) {
        const secret = findSecret(decrypted, name);
        return secret?.file?.content ?? secret?.fields?.password;
      },
    };
  };
  return { go, identity, stored, files: fileTexts, outputs, runs };
}
