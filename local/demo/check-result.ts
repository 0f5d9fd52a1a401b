/** Looks at what a bootstrap of the demo left: in the cloud, asked as its owner; in the caller's folder; in plinth's own documents and logs. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readInstallConfig } from '../../shared/install-config/config.js';
import { decryptSecrets } from '../../shared/install-config/secrets.js';
import { people } from '../stack/deployment.js';
import type { Stack } from '../stack/stack.js';
import { type Findings, inspect, type Wanted } from './inspect.js';
import { ageIdentitiesIn } from './plinth-process.js';
import { project } from './project.js';
import type { Stage } from './stage.js';

const configIn = (folder: string) => readInstallConfig(readFileSync(join(folder, 'config.yaml'), 'utf8'));

/** What the demo's flags ask for, and what there is of it. */
export async function inspectCloud(
  stack: Stack,
  folder: string,
  provisioning: NonNullable<Wanted['provisioning']>,
): Promise<Findings> {
  const { accessToken } = await stack.tokens(people.alice);
  return inspect(
    { frontUrl: stack.record.frontUrl, accessToken },
    {
      projectId: configIn(folder).bootstrap.projectId,
      projectName: project.name,
      region: project.region,
      zone: `${project.region}-a`,
      baseDomain: project.baseDomain,
      dnsZone: 'tool-testing',
      provisioning,
      owner: `user:${people.alice}`,
    },
  );
}

/** Returns sentences about what is wrong, none if all is well. */
export async function checkResult(stage: Stage, stack: Stack, folder: string): Promise<readonly string[]> {
  const faults: string[] = [];
  const ok = (good: boolean, what: string): void => void faults.push(...stage.looked(good, what));
  const secretsFile = join(folder, 'prod.vault.yaml');
  const config = configIn(folder);
  const { projectId } = config.bootstrap;
  ok(config.dataCenter.name === 'demo', `config.yaml fits its schema (${projectId})`);

  const provisioning = { '*': 'SPOT', 'k0s-2': 'STANDARD' } as const;
  const { missing, extra, wanted } = await inspectCloud(stack, folder, provisioning);
  const count = (word: string): number => wanted.filter((line) => line.startsWith(word)).length;
  ok(
    missing.length + extra.length === 0,
    `in the cloud, asked as alice: ${count('VM ')} VMs, ${count('address ')} addresses, ${count('record ')} records, ${count('role ')} roles, network, labels`,
  );
  faults.push(...missing.map((line) => `missing in the cloud: ${line}`));
  faults.push(...extra.map((line) => `in the cloud, and nobody asked for it: ${line}`));

  const secrets = readFileSync(secretsFile, 'utf8');
  ok((statSync(secretsFile).mode & 0o777) === 0o600, 'prod.vault.yaml is for its owner alone (0600)');
  ok(!secrets.includes(project.clientSecret), 'prod.vault.yaml holds no secret in the clear');
  const [identity = ''] = ageIdentitiesIn(folder);
  const opened = await decryptSecrets(secrets, identity);
  const given = opened.secrets.find((each) => each.name === 'forge1AppClientSecret')?.fields?.password;
  ok(
    given === project.clientSecret,
    `the age identity opens prod.vault.yaml: ${opened.secrets.length} secrets, the given one among them`,
  );
  const ca = opened.secrets.find((each) => each.name === 'selfSignedCaKeyPem')?.file?.content;
  ok(ca?.includes('PRIVATE KEY') === true, 'a CA key of its own is among them');

  const { store } = stack.functionsHalf ?? {};
  const documents = await store?.query({ collection: 'bootstraps' });
  ok(!JSON.stringify(documents ?? 'none').includes(project.clientSecret), "no secret stands in the store's documents");
  ok(!stack.logs.some((line) => line.includes(project.clientSecret)), "no secret stands in the functions' logs");
  return faults;
}
