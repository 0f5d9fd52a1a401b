/**
 * How long a step takes where this deployment has no bootstrap to learn from. All of it is assumed. Nobody has measured it on
 * Google.
 */
const seconds: Readonly<Record<string, number>> = {
  policies: 5,
  project: 20,
  billing: 5,
  apis: 60,
  quota: 5,
  'cloud-controller': 15,
  'project-roles': 20,
  network: 30,
  subnet: 20,
  firewall: 20,
  router: 25,
  address: 10,
  zone: 10,
  delegation: 15,
  repository: 15,
  vm: 45,
  'host-key': 45,
  'host-setup': 60,
  'plinth-binary': 20,
  package: 60,
  registry: 45,
  images: 300,
  'k0s-binary': 30,
  'k0s-controller': 90,
  'k0s-worker': 60,
  'k0s-ready': 60,
  install: 600,
  'install-second': 600,
  'load-balancers': 60,
  'test-user': 30,
};

export const shippedSeconds = (step: string): number => seconds[step] ?? 5;
