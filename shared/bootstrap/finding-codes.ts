/** The codes of findings. Programs go by them, so none is ever renamed. */

/** What is looked at before a bootstrap begins, in reading order. */
export const bootstrapFindingCodes = [
  // On the caller's computer.
  'ssh-key',
  'files',
  // At the service.
  'options',
  'allowed',
  'ceiling',
  'release-known',
  'name',
  'install-values',
  'room',
  'billing-account',
  'billing-link',
  'billing-links',
  'parent',
  'project-quota',
  'project-permissions',
  'region',
  'zone',
  'machine-types',
  'policies',
  'quota',
  'dns-zone',
  'dns-permissions',
  'dns-records',
  'dns-delegation',
  'plinth-release',
  'k0s-release',
  'package',
  'forge1-token',
  'forge1-team',
  'registry',
] as const;
export type BootstrapFindingCode = (typeof bootstrapFindingCodes)[number];

/** What an operator's look at a deployment tells, in reading order. */
export const deploymentFindingCodes = [
  // Seen from the operator's computer.
  'function-bootstraps',
  'function-api',
  'audience-bootstraps',
  'audience-api',
  'grants-api',
  'deployment',
  // At the service.
  'function-check',
  'cloud-lane',
  'host-lane',
  'apis-bootstraps',
  'apis-run-cloud-step',
  'grants-bootstraps',
  'grants-run-cloud-step',
  'grants-run-host-step',
  'grants-sweep',
  'grants-cleanup',
  'indexes',
  'schedule-sweep',
  'schedule-cleanup',
  'ceilings',
  'parents',
  'billing-accounts',
  'dns-zones',
  'packages',
  'packages-run-host-step',
  'executable',
  'executable-run-host-step',
  'uploads-bootstraps',
  'uploads-run-host-step',
] as const;
export type DeploymentFindingCode = (typeof deploymentFindingCodes)[number];

export type FindingCode = BootstrapFindingCode | DeploymentFindingCode;
