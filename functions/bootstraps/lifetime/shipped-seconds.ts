/**
 * How long a step takes where this deployment has no bootstrap to learn from. All of it is assumed. Nobody has measured it on
 * Google.
 *
 * Steps that call Google: what one bootstrap took in the simulated cloud at real speed, with the delays that docs/build/worlds.md
 * lists. The first step that uses an API waits for it, and that is part of its time. Steps on machines: together with these
 * they make the 20 minutes of an install that docs/operate/cost.md reckons with.
 */
const ofCloud = {
  secrets: 6,
  project: 11,
  billing: 3,
  apis: 12,
  quota: 37,
  'cloud-controller': 44,
  network: 10,
  subnet: 12,
  firewall: 14,
  router: 8,
  address: 10,
  zone: 36,
  delegation: 6,
  records: 6,
  repository: 46,
  'registry-writer': 45,
  'eab-key': 38,
  vm: 27,
};

const ofMachines = {
  'host-key': 16,
  'host-setup': 60,
  'plinth-binary': 20,
  package: 60,
  registry: 45,
  images: 300,
  'k0s-binary': 30,
  'k0s-controller': 90,
  'k0s-worker': 60,
  'k0s-ready': 60,
  install: 710,
  'install-second': 710,
  'load-balancers': 60,
  'test-user': 30,
};

/** By step. */
export const shippedTable: Readonly<Record<string, number>> = { ...ofCloud, ...ofMachines };

/** What is not in the table takes a look and a commit. */
export const shippedSeconds = (step: string): number => shippedTable[step] ?? 1;
