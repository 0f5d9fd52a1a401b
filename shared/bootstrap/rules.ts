/**
 * What a set of given options means, and all that is wrong with it at once. Pure; called by the command line and again by
 * the function. It refuses what cannot work and warns about the rest.
 */
import { type Fault, Problem } from '../problems.js';
import {
  type BootstrapOptions,
  flagName,
  flagOf,
  type GivenFlags,
  isLocal,
  isSecret,
  type LocalOptions,
  type Option,
  optionNames,
  type SecretOptions,
} from './options.js';
import { firstZoneOf, regionOf } from './places.js';

export interface CheckedOptions {
  /** This and the next two are to be used only when there are no faults. */
  readonly options: BootstrapOptions;
  readonly local: LocalOptions;
  readonly secrets: SecretOptions;
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
  /** What follows from what was given, for people: a zone from its region. */
  readonly notes: readonly string[];
}

/** Values as given where they are right, the table's defaults for the rest. */
type Values = { readonly [K in keyof GivenFlags]-?: GivenFlags[K] };

interface Facts {
  readonly values: Values;
  /** Given, and not empty. */
  has(option: Option): boolean;
  /** Given, and a value that it may have. Of another the default stands in `values`. */
  isRight(option: Option): boolean;
  /** An install is asked for. */
  readonly installs: boolean;
}

interface Rule {
  /** The flag that the fault is told of. */
  readonly option: Option;
  readonly does: 'refuse' | 'warn';
  readonly message: string | ((facts: Facts) => string);
  when(facts: Facts): boolean;
}

/** Steps that packages are known to have; a package may have others. */
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

const installFlags = ['installVersion', 'installHash', 'installLocal'] as const;

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
/** One that --airgapped excludes is told of by that, and cannot stay. */
const forge1Given = ({ isRight, values }: Facts) =>
  isRight('registryType') && values.registryType === 'forge1' && values.airgapped !== true;

const rules: readonly Rule[] = [
  ...optionNames
    .filter((option) => flagOf(option).required)
    .map(
      (option): Rule => ({ option, does: 'refuse', message: 'is required', when: ({ has }: Facts) => !has(option) }),
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
  ...(['registryUser', 'forge1Pat'] as const).map(
    (option): Rule => ({
      option,
      does: 'refuse',
      message: 'is required for registry type local-container with an install: images are mirrored from forge1 with it',
      when: ({ values, installs, has }: Facts) => values.registryType === 'local-container' && installs && !has(option),
    }),
  ),
  {
    option: 'forge1Pat',
    does: 'warn',
    message: 'is not given: only public images can be pulled from forge1',
    when: (facts) => (forge1Given(facts) || forge1Default(facts)) && facts.installs && !facts.has('forge1Pat'),
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

/** `strict`: what would be warned about is refused. */
export function checkOptions(given: GivenFlags, how: { readonly strict?: boolean | undefined } = {}): CheckedOptions {
  const faults: Fault[] = [];
  const warnings: string[] = [];
  const found: Partial<Record<Option, unknown>> = {};
  const has = (option: Option) => given[option] !== undefined && given[option] !== '';

  for (const option of optionNames) {
    const value = given[option];
    // An empty value of a required flag is told as missing.
    if (value === undefined || (value === '' && flagOf(option).required)) continue;
    const read = flagOf(option).schema.safeParse(value);
    if (read.success) found[option] = read.data;
    else faults.push({ path: flagName(option), message: said(option, value, read.error.issues[0]?.message) });
  }

  const { values, notes } = resolve(found as GivenFlags);
  const isRight = (option: Option) => has(option) && found[option] !== undefined;
  const facts: Facts = { values, has, isRight, installs: installFlags.some(has) };
  for (const rule of rules) {
    if (!rule.when(facts)) continue;
    const message = typeof rule.message === 'string' ? rule.message : rule.message(facts);
    const fault = { path: flagName(rule.option), message };
    if (rule.does === 'refuse' || how.strict === true) faults.push(fault);
    else warnings.push(`${fault.path} ${fault.message}`);
  }

  const chosen = (keep: (option: Option) => boolean) =>
    Object.fromEntries(
      Object.entries(values).filter(([option, value]) => value !== undefined && keep(option as Option)),
    );
  return {
    options: chosen((option) => !isLocal(option) && !isSecret(option)) as unknown as BootstrapOptions,
    local: chosen(isLocal) as unknown as LocalOptions,
    secrets: chosen(isSecret) as SecretOptions,
    faults,
    warnings,
    notes,
  };
}

/** The same for who wants nothing but a right answer: throws all faults as one problem. */
export function acceptOptions(
  given: GivenFlags,
  how: { readonly strict?: boolean | undefined } = {},
): Omit<CheckedOptions, 'faults'> {
  const { faults, ...checked } = checkOptions(given, how);
  if (faults.length > 0) throw refusalOf(faults);
  return checked;
}

/** One problem of all faults. */
export function refusalOf(errors: readonly Fault[]): Problem {
  return new Problem('bad-input', errors.map(({ path, message }) => `${path} ${message}`).join('; '), {
    errors,
    advice: 'Correct these flags and run the command again.',
  });
}

/** Applies defaults, and what follows from one option for another. */
function resolve(found: GivenFlags): { values: Values; notes: string[] } {
  const defaults = Object.fromEntries(optionNames.map((option) => [option, flagOf(option).default]));
  const notes: string[] = [];
  const follows: { -readonly [K in keyof GivenFlags]: GivenFlags[K] } = {};
  if (found.region !== undefined && found.zone === undefined) {
    follows.zone = firstZoneOf(found.region);
    notes.push(`--zone ${follows.zone} follows from --region ${found.region}`);
  }
  if (found.zone !== undefined && found.region === undefined) {
    follows.region = regionOf(found.zone);
    notes.push(`--region ${follows.region} follows from --zone ${found.zone}`);
  }
  if (found.airgapped === true && found.registryType === undefined) {
    follows.registryType = 'local-container';
    notes.push('--registry-type local-container follows from --airgapped');
  }
  return { values: { ...defaults, ...found, ...follows } as Values, notes };
}

/** A message with the value that it is about, unless that is a secret. */
function said(option: Option, value: unknown, message = 'is not valid'): string {
  if (isSecret(option) || value === '') return message;
  const shown = JSON.stringify(value);
  return `${message}, not ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown}`;
}
