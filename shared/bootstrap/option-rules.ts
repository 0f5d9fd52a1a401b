/** How options work together: which combinations are refused, and which only warn. */
import { parseDuration } from './duration.js';
import { flagName, flagOf, type GivenFlags, isSecret, type Option, optionNames, shortestHidden } from './options.js';
import { isKnownRegion, isKnownZone, regionOf } from './places.js';

/** Given values where they are valid, and the table's defaults for the rest. */
export type Values = { readonly [K in keyof GivenFlags]-?: GivenFlags[K] };

export interface Facts {
  readonly values: Values;
  /** The option was given and is not empty. */
  has(option: Option): boolean;
  /** The option was given with a valid value. For an invalid one, `values` holds the default. */
  isRight(option: Option): boolean;
  /** The caller asks for an install. */
  readonly installs: boolean;
}

interface Rule {
  /** The fault names this flag. */
  readonly option: Option;
  readonly does: 'refuse' | 'warn';
  readonly message: string | ((facts: Facts) => string);
  when(facts: Facts): boolean;
}

/** Steps of known packages. A package may have others. */
const knownInstallSteps = [
  'copy-dependencies',
  'extract-dependencies',
  'load-container-images',
  'sops',
  'docker',
  'postgres',
  'ceph',
  'kubernetes',
  'set-up-cluster',
  'platform',
  'ms-backends',
] as const;

export const installFlags = ['installVersion', 'installHash', 'installLocal'] as const;

/** `option` makes no sense without `other`. */
const needs = (option: Option, other: Option, does: 'refuse' | 'warn', why: string): Rule => ({
  option,
  does,
  message: `${does === 'refuse' ? 'needs' : 'has no effect without'} ${flagName(other)}${why}`,
  when: ({ has }) => has(option) && !has(other),
});
const pair = (one: Option, other: Option): Rule[] => [needs(one, other, 'refuse', ''), needs(other, one, 'refuse', '')];

const unknownSteps = ({ values }: Facts): string[] =>
  (values.installSkipSteps ?? []).filter((step) => !knownInstallSteps.some((known) => known === step));
const holdsPassword = (url: string | undefined): boolean =>
  url !== undefined && URL.canParse(url) && new URL(url).password !== '';
const forge1Default = ({ has, values }: Facts) => !has('registryType') && values.registryType === 'forge1';
/** --airgapped excludes forge1 and reports that itself, so no second fault is needed. */
const forge1Given = ({ isRight, values }: Facts) =>
  isRight('registryType') && values.registryType === 'forge1' && values.airgapped !== true;
/** An invalid registry type has its own fault, so nothing else is said about it. */
const usesForge1Images = ({ values: { registryType }, isRight, has, installs }: Facts) =>
  registryType === 'forge1' ||
  (registryType === 'local-container' && installs) ||
  (has('registryType') && !isRight('registryType'));
const lifeSeconds = ({ values }: Facts): number => parseDuration(values.projectTtl ?? '') ?? 0;
const [shortLife, longLife] = [10 * 60, 30 * 86_400];

export const rules: readonly Rule[] = [
  ...optionNames
    .filter((option) => flagOf(option).required)
    .map(
      (option): Rule => ({ option, does: 'refuse', message: 'is required', when: ({ has }: Facts) => !has(option) }),
    ),

  /* Times that are probably a mistake. The service enforces the operator's own limits. */
  {
    option: 'projectTtl',
    does: 'warn',
    message: 'is less than 10 minutes: the project may be removed before it is of use',
    when: (facts) => facts.isRight('projectTtl') && lifeSeconds(facts) < shortLife,
  },
  {
    option: 'projectTtl',
    does: 'warn',
    message: 'is more than 30 days: the project costs until then',
    when: (facts) => facts.isRight('projectTtl') && lifeSeconds(facts) > longLife,
  },

  /* Secrets that cannot be hidden well */
  ...optionNames.filter(isSecret).map(
    (option): Rule => ({
      option,
      does: 'warn',
      message: `has fewer than ${shortestHidden} characters: in messages and logs it is hidden only where it stands alone`,
      when: ({ isRight, values }) => isRight(option) && (values[option] ?? '').length < shortestHidden,
    }),
  ),

  /* For an install alone */
  {
    option: 'createTestUser',
    does: 'warn',
    message: 'is for an install, and nothing is installed',
    when: ({ values, installs }) => values.createTestUser === true && !installs,
  },
  {
    option: 'pcAppsValues',
    does: 'warn',
    message: 'is for an install, and nothing is installed',
    when: ({ has, installs }) => has('pcAppsValues') && !installs,
  },

  /* Exclusions */
  {
    option: 'preemptible',
    does: 'refuse',
    message: 'cannot be combined with --spot-vms',
    when: ({ values }) => values.preemptible === true && values.spotVms === true,
  },
  {
    option: 'datacenterId',
    does: 'refuse',
    message: 'cannot be combined with --multi-dc, which gives the datacenters the ids 1 and 2',
    when: ({ values, has }) => values.multiDc === true && has('datacenterId'),
  },
  {
    option: 'registryType',
    does: 'refuse',
    message: 'must be local-container with --airgapped, or left out',
    when: ({ values, has }) =>
      values.airgapped === true && has('registryType') && values.registryType !== 'local-container',
  },
  {
    option: 'zone',
    does: 'refuse',
    message: 'does not lie in the region of --region',
    when: ({ values: { region, zone }, has }) =>
      has('region') && has('zone') && region !== undefined && zone !== undefined && regionOf(zone) !== region,
  },

  /** Google adds regions and zones at any time, so Google decides. */
  {
    option: 'region',
    does: 'warn',
    message: 'is none that this release of plinth knows; Google decides',
    when: ({ values: { region } }) => region !== undefined && !isKnownRegion(region),
  },
  {
    option: 'zone',
    does: 'warn',
    message: 'is none that this release of plinth knows in its region; Google decides',
    when: ({ values: { zone } }) => zone !== undefined && isKnownRegion(regionOf(zone)) && !isKnownZone(zone),
  },

  /* Registry */
  {
    option: 'registryUser',
    does: 'refuse',
    message: 'is required for registry type forge1',
    when: (facts) => (forge1Given(facts) || (forge1Default(facts) && facts.installs)) && !facts.has('registryUser'),
  },
  {
    option: 'registryUser',
    does: 'warn',
    message: 'is not given: an install from registry type forge1, the default, will need it',
    when: (facts) => forge1Default(facts) && !facts.installs && !facts.has('registryUser'),
  },
  ...(['registryUser', 'forge1Pat'] as const).flatMap((option) =>
    [true, false].map(
      (airgapped): Rule => ({
        option,
        does: 'refuse',
        // An airgapped install takes its images from the package.
        message: `is required for registry type local-container with an install${airgapped ? '' : ': images are mirrored from forge1 with it'}`,
        when: ({ values, installs, has }: Facts) =>
          values.registryType === 'local-container' &&
          (values.airgapped === true) === airgapped &&
          installs &&
          !has(option),
      }),
    ),
  ),
  {
    option: 'forge1Pat',
    does: 'warn',
    message: 'is not given: only public images can be pulled from forge1',
    when: (facts) => (forge1Given(facts) || forge1Default(facts)) && facts.installs && !facts.has('forge1Pat'),
  },

  ...(['registryUser', 'forge1Pat'] as const).map(
    (option): Rule => ({
      option,
      does: 'warn',
      message: ({ values: { registryType } }) =>
        `is not used: ${registryType === 'artifact-registry' ? `registry type ${registryType} has no use for it` : `nothing is installed, and registry type ${registryType} mirrors images for an install alone`}`,
      when: (facts) =>
        facts.isRight(option) && !usesForge1Images(facts) && !(option === 'forge1Pat' && facts.has('forge1TeamOrg')),
    }),
  ),

  {
    option: 'customPgIp',
    does: 'warn',
    message: 'is an IPv6 address: the machines have IPv4 alone and cannot reach it',
    when: ({ isRight, values }) => isRight('customPgIp') && values.customPgIp?.includes(':') === true,
  },

  /* Hosting and identity providers */
  ...pair('forge1TeamOrg', 'forge1TeamSlug'),
  {
    option: 'forge1Pat',
    does: 'refuse',
    message: 'is required with --forge1-team-org and --forge1-team-slug, with the scope read:org',
    when: ({ has }) => (has('forge1TeamOrg') || has('forge1TeamSlug')) && !has('forge1Pat'),
  },
  ...pair('forge2AppClientId', 'forge2AppClientSecret'),
  ...pair('forge3AppClientId', 'forge3AppClientSecret'),
  ...pair('forge4AppClientId', 'forge4AppClientSecret'),
  ...(['oidcClientId', 'oidcClientSecret', 'oidcIssuerUrl'] as const).map(
    (option, _, all): Rule => ({
      option,
      does: 'refuse',
      message: `is required too: ${all.map(flagName).join(', ')} go together`,
      when: ({ has }: Facts) => all.some((each) => has(each)) && !has(option),
    }),
  ),
  needs('oidcProviderName', 'oidcClientId', 'warn', ''),

  /* Secrets store and observability */
  needs('vaultPassword', 'vaultUri', 'warn', ''),
  needs('vaultUser', 'vaultUri', 'warn', ''),
  needs('vaultEngine', 'vaultUri', 'warn', ''),
  ...(
    [
      ['centralOtelEndpoint', 'centralOtelUsername', 'centralOtelPassword'],
      ['externalLogstoreEndpoint', 'externalLogstoreUser', 'externalLogstoreSecret'],
      ['metricsRemoteWriteUrl', 'metricsRemoteWriteUser', 'metricsRemoteWritePassword'],
    ] as const
  ).flatMap(([endpoint, user, password]): Rule[] => [
    needs(user, endpoint, 'warn', ''),
    needs(password, endpoint, 'warn', ''),
    {
      option: user,
      does: 'warn',
      message: `is given without ${flagName(password)}`,
      when: ({ has }) => has(user) && !has(password),
    },
  ]),
  {
    option: 'centralOtelSpanMetrics',
    does: 'warn',
    message: 'has no effect without --central-otel-endpoint',
    when: ({ values, has }) => values.centralOtelSpanMetrics === true && !has('centralOtelEndpoint'),
  },

  ...(
    [
      'oidcIssuerUrl',
      'vaultUri',
      'centralOtelEndpoint',
      'localTraceEndpoint',
      'externalLogstoreEndpoint',
      'metricsRemoteWriteUrl',
    ] as const
  ).map(
    (option): Rule => ({
      option,
      does: 'warn',
      message: 'holds a password, which will stand in the config for all to read',
      when: ({ values }: Facts) => holdsPassword(values[option]),
    }),
  ),

  /* Installation */
  {
    option: 'installSkipSteps',
    does: 'warn',
    message: (facts) =>
      `names steps that packages are not known to have, ${unknownSteps(facts).join(', ')} (known: ${knownInstallSteps.join(', ')}); the package decides`,
    when: (facts) => unknownSteps(facts).length > 0,
  },
];
