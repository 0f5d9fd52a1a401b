/** The project of the demo, and the flags that ask for it. */
import { local } from '../stack/deployment.js';

export const project = {
  name: 'plinth-demo',
  /** The one that bootstraps have by default. */
  region: 'europe-west4',
  baseDomain: `demo.${local.domain}`,
  /** Passed in the environment, so that no list of processes shows it. */
  clientSecret: 'demo-client-secret',
} as const;

export const flagsFor = (installVersion: string | undefined): readonly string[] => [
  ...['--project-name', project.name],
  ...['--billing-account', local.billingAccount],
  ...['--base-domain', project.baseDomain],
  ...['--project-ttl', '90m'],
  ...['--registry-user', 'demo'],
  ...['--datacenter-name', 'demo'],
  ...['--forge1-app-client-id', 'demo-client-id'],
  '--spot-vms',
  '--ssh-quiet',
  ...(installVersion === undefined ? [] : ['--install-version', installVersion]),
];

/** Two flags a line, as one writes what does not fit on one. */
export function commandText(flags: readonly string[]): string {
  const pairs: string[] = [];
  for (const word of flags) {
    if (word.startsWith('--')) pairs.push(word);
    else pairs.push(`${pairs.pop()} ${word}`);
  }
  const lines = pairs.flatMap((_, at) => (at % 2 === 0 ? [pairs.slice(at, at + 2).join(' ')] : []));
  return ['plinth beta bootstrap-cloud', ...lines.map((line) => `    ${line}`)].join(' \\\n');
}
