/**
 * Which flags `plinth beta bootstrap-cloud` takes together and which it refuses, as specified. Pinned: see
 * test/house/spec-is-pinned.test.ts.
 */

type Given = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface RuleCase {
  readonly name: string;
  /** Beside the five that are required. */
  readonly given: Given;
  /** Of the five, the one that is left out. */
  readonly without?: string;
  /** The refusal names at least one of them. Undefined: it is accepted. */
  readonly refused?: readonly string[];
}

/** What every bootstrap needs, and no more. */
export const requiredFive = {
  'project-name': 'demo',
  'billing-account': '012345-6789AB-CDEF01',
  'base-domain': 'demo.example.com',
  'forge1-app-client-id': 'client-1',
  'forge1-app-client-secret': 'secret-1',
} as const satisfies Given;

/** The four rules between flags, and for each what comes close and is no breach of it. */
export const errorRules: readonly RuleCase[] = [
  // 1. Airgapped with another registry type than local-container.
  {
    name: 'airgapped with registry type forge1',
    given: { airgapped: true, 'registry-type': 'forge1', 'registry-user': 'somebody' },
    refused: ['airgapped', 'registry-type'],
  },
  {
    name: 'airgapped with registry type artifact-registry',
    given: { airgapped: true, 'registry-type': 'artifact-registry' },
    refused: ['airgapped', 'registry-type'],
  },
  {
    name: 'airgapped with registry type local-container',
    given: { airgapped: true, 'registry-type': 'local-container' },
  },
  { name: 'airgapped without a registry type', given: { airgapped: true } },
  {
    name: 'airgapped=false with registry type artifact-registry',
    given: { airgapped: false, 'registry-type': 'artifact-registry' },
  },

  // 2. Preemptible and spot VMs.
  {
    name: 'preemptible and spot VMs',
    given: { preemptible: true, 'spot-vms': true },
    refused: ['preemptible', 'spot-vms'],
  },
  { name: 'preemptible VMs', given: { preemptible: true } },
  { name: 'spot VMs', given: { 'spot-vms': true } },

  // 3. Two datacenters and a datacenter's id: given is enough, whatever its value.
  {
    name: 'two datacenters and a datacenter id',
    given: { 'multi-dc': true, 'datacenter-id': 2 },
    refused: ['multi-dc', 'datacenter-id'],
  },
  {
    name: 'two datacenters and the default datacenter id, given',
    given: { 'multi-dc': true, 'datacenter-id': 1 },
    refused: ['multi-dc', 'datacenter-id'],
  },
  { name: 'two datacenters', given: { 'multi-dc': true } },
  { name: 'a datacenter id', given: { 'datacenter-id': 2 } },

  // 4. A required flag that is missing.
  ...Object.keys(requiredFive).map(
    (flag): RuleCase => ({ name: `no --${flag}`, given: {}, without: flag, refused: [flag] }),
  ),
  { name: 'the five required flags and no others', given: {} },
];

/** What the meanings of single flags say of others. */
export const meaningRules: readonly RuleCase[] = [
  {
    name: 'registry type forge1 without a registry user',
    given: { 'registry-type': 'forge1' },
    refused: ['registry-user'],
  },
  {
    name: 'registry type forge1 with a registry user',
    given: { 'registry-type': 'forge1', 'registry-user': 'somebody' },
  },
  { name: 'registry type artifact-registry', given: { 'registry-type': 'artifact-registry' } },
  { name: 'registry type local-container', given: { 'registry-type': 'local-container' } },
  { name: 'another registry type', given: { 'registry-type': 'elsewhere' }, refused: ['registry-type'] },
  {
    name: 'an install with registry type local-container, without a registry user',
    given: { 'registry-type': 'local-container', 'install-version': '1.2.3', 'forge1-pat': 'token-1' },
    refused: ['registry-user'],
  },
  {
    name: 'an install with registry type local-container, without a token',
    given: { 'registry-type': 'local-container', 'install-version': '1.2.3', 'registry-user': 'somebody' },
    refused: ['forge1-pat'],
  },
  {
    name: 'an install with registry type local-container, registry user and token',
    given: {
      'registry-type': 'local-container',
      'install-version': '1.2.3',
      'registry-user': 'somebody',
      'forge1-pat': 'token-1',
    },
  },
  {
    name: "a team's keys without a token",
    given: { 'forge1-team-org': 'acme', 'forge1-team-slug': 'red' },
    refused: ['forge1-pat'],
  },
  {
    name: "a team's keys with a token",
    given: { 'forge1-team-org': 'acme', 'forge1-team-slug': 'red', 'forge1-pat': 'token-1' },
  },
];
