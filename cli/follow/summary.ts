/** What exists of a bootstrap, for people. */
import type { BootstrapView, InstanceView, VmView } from '../../shared/bootstrap/bootstrap.js';
import { forecastText } from '../../shared/bootstrap/forecast-text.js';
import { shellWord } from '../../shared/command-words.js';
import type { WrittenFile } from '../files/standing-files.js';
import { printable, type Style } from '../frame/output.js';
import { type Cell, table, time } from '../frame/table.js';
import type { Delegation } from '../identity/delegation.js';
import { jumpboxIn } from '../machines/jumpbox.js';
import type { FetchedUser } from '../machines/test-user.js';
import { type CostEnd, costText } from './cost-text.js';
import { lifeRows } from './life-text.js';

const provisioning: Readonly<Record<VmView['provisioning'], string>> = {
  standard: 'standard',
  spot: 'spot',
  preemptible: 'preemptible',
  fallback: 'standard, for want of spot capacity',
};

export interface SummaryParts {
  readonly files?: readonly WrittenFile[];
  /** The caller wanted no files. */
  readonly withoutFiles?: boolean;
  /** For readers who did not follow it: also show what is under way, what failed, and the warnings. */
  readonly untold?: boolean;
  readonly delegation?: Delegation | undefined;
  /** For `--create-test-user`, if it was fetched just now. */
  readonly testUser?: FetchedUser | undefined;
}

export function summary(view: BootstrapView, style: Style, parts: SummaryParts = {}, nowMs = Date.now()): string {
  const sections = [
    ...(parts.untold === true ? untold(view) : []),
    ...machineSections(view),
    ...dnsSection(view, parts.delegation),
    ...keptSections(parts),
  ];
  return [
    ...table(factRows(view, style, nowMs)),
    ...(view.expiryWarning === undefined
      ? []
      : [
          '',
          `${style.yellow('Warning:')} ${printable(view.expiryWarning.text)}`,
          printable(view.expiryWarning.advice),
        ]),
    ...sections.flatMap(([name, rows]) => (rows.length === 0 ? [] : ['', style.bold(name), ...table(rows)])),
    ...nextSteps(view, parts).flatMap((line, index) =>
      index === 0 ? ['', style.bold('Next'), `  ${line}`] : [`  ${line}`],
    ),
  ].join('\n');
}

/** A title and its rows. A section without rows is left out. */
type Section = readonly [title: string, rows: readonly (readonly Cell[])[]];

function factRows(view: BootstrapView, style: Style, nowMs: number): (readonly Cell[])[] {
  const states = {
    succeeded: style.green,
    'succeeded-with-warnings': style.yellow,
    failed: style.red,
    cancelled: style.yellow,
    cancelling: style.yellow,
    running: style.cyan,
    removing: style.yellow,
    'removal-failed': style.red,
    removed: style.dim,
  };
  const { registry, platform } = view.result;
  return [
    ['Project', `${view.name} (${view.projectId})`],
    ...(view.prepared === undefined
      ? []
      : [['Prepared', `since ${time(view.prepared)}, and claimed by this bootstrap`]]),
    ...(view.unprepared === undefined ? [] : [['Prepared', `no: ${view.unprepared}`]]),
    ['State', { text: view.state, paint: states[view.state] }],
    ['Owner', view.owner],
    ...(view.sharedWith.length === 0 ? [] : [['Shared with', view.sharedWith.join(', ')]]),
    ...(view.team === undefined ? [] : [['Team', String(view.team)]]),
    ...(view.sharedWithTeams === undefined ? [] : [['Shared with teams', view.sharedWithTeams.join(', ')]]),
    ['Region', `${view.region}, zone ${view.zone}`],
    ...(view.vmsStopped === undefined
      ? []
      : [['VMs', `stopped at ${time(view.vmsStopped.at)}: ${view.vmsStopped.why}`]]),
    ...(view.unplanned === undefined
      ? []
      : [['Not of plinth', view.unplanned.map(({ name, zone }) => `${name} (${zone})`).join(', ')]]),
    ...lifeRows(view, nowMs),
    ...(view.forecast === undefined ? [] : [['Ready', `in ${forecastText(view.forecast)}`]]),
    ['Cost', costText(view.cost, endOf(view))],
    ...(registry === undefined ? [] : [['Registry', registry]]),
    ...(platform === undefined ? [] : [['Platform', platform.url]]),
  ];
}

const endOf = ({ state, removal }: BootstrapView): CostEnd =>
  state === 'removed' ? 'over' : removal === undefined ? 'to come' : 'ending';

const machineSections = ({ result }: BootstrapView): Section[] => [
  [
    'VMs',
    result.vms.map((vm) => [
      vm.name,
      vm.internalIp,
      vm.externalIp ?? '-',
      vm.machineType,
      `${provisioning[vm.provisioning]}${vm.stopped === true ? ', stopped' : ''}`,
    ]),
  ],
  [
    'Addresses',
    result.addresses.map(({ name, address, service }) => [
      name,
      address,
      ...(service === undefined ? [] : [`of the service ${service}`]),
    ]),
  ],
];

function dnsSection({ result: { dns } }: BootstrapView, delegation: Delegation | undefined): Section[] {
  if (dns === undefined) return [];
  const rows = [
    ...dns.records.map(({ name, address }) => [name, address]),
    ...dns.nameServers.map((server) => ['name server', server]),
    ...(dns.parent === undefined
      ? []
      : [['delegated by', `the zone ${printable(dns.parent.zone)} in ${printable(dns.parent.project)}`]]),
    ...(delegation === undefined ? [] : [['delegated', inFull(delegation)]]),
  ];
  return [[`DNS (zone ${printable(dns.zone)} in ${printable(dns.project)})`, rows]];
}

/** What is now on this machine. */
const keptSections = ({ files = [], testUser }: SummaryParts): Section[] => [
  [
    'Files',
    files.map(({ path, what, state, movedAside }) => [
      path,
      what,
      movedAside === undefined ? state : `${state}; what stood there is now ${movedAside}`,
    ]),
  ],
  [
    'Test user',
    testUser === undefined
      ? []
      : [
          ['user', testUser.user],
          ['API, as the jumpbox reaches it', testUser.url],
          ['token, shown this once', testUser.token],
          ['kept in', testUser.path],
        ],
  ],
];

/** What is not done yet, and why. */
function untold({ state, instances, warnings, removal }: BootstrapView): Section[] {
  // What failed before a removal is gone, or goes with the project.
  const isOver = ({ endedAt = '' }: InstanceView) => removal !== undefined && endedAt < removal.requestedAt;
  if (state === 'removed') return [];
  const running = instances.filter(({ state }) => state === 'running' || state === 'client');
  const done = instances.filter(({ state }) => state === 'done').length;
  const failed = instances.flatMap((instance) =>
    instance.problem === undefined || isOver(instance) ? [] : [[instance.title, instance.problem.detail]],
  );
  return [
    [
      state === 'removing' ? 'Under way' : `Under way (${done} of ${instances.length} done)`,
      ['running', 'cancelling', 'removing'].includes(state) ? running.map(({ title, note = '' }) => [title, note]) : [],
    ],
    ['Failed', failed],
    ['Warnings', warnings.map((text) => [printable(text)])],
  ];
}

const adviceOf = ({ instances, problem }: BootstrapView): string[] => [
  ...new Set(
    [...instances.map((instance) => instance.problem), problem].flatMap((each) => each?.advice?.split('\n') ?? []),
  ),
];

function inFull(delegation: Delegation): string {
  switch (delegation.state) {
    case 'delegated':
      return 'yes';
    case 'partly':
      return `only in part: ${delegation.domain} is delegated to ${delegation.servers.join(', ')}, too, which do not have its records`;
    case 'lame':
      return `no: ${delegation.domain} is delegated to name servers that do not serve it; delegate the base domain to the name servers above`;
    case 'elsewhere':
      return `no: ${delegation.domain} is served by ${delegation.servers.join(', ')}; delegate the base domain to the name servers above`;
    case 'nowhere':
      return 'no: nobody serves the base domain; delegate it to the name servers above';
    case 'unknown':
      return `not known: ${delegation.why}; PLINTH_DNS_RESOLVER names another resolver`;
  }
}

/** Next steps for a person, as commands. */
function nextSteps(view: BootstrapView, { files = [], withoutFiles, untold }: SummaryParts): string[] {
  const name = shellWord(view.name);
  if (view.vmsStopped !== undefined && view.endedAt !== undefined && view.removal === undefined)
    return [printable(view.vmsStopped.advice)];
  const waits = view.state === 'running' && view.instances.some(({ state }) => state === 'client');
  if (waits) {
    return [
      'It waits for a file of its owner. Run the same bootstrap-cloud command again on the machine that has the file: it uploads it, or goes on with an upload that was interrupted.',
    ];
  }
  if (view.state === 'running' || view.state === 'cancelling')
    return [`plinth beta bootstrap-cloud status ${name} --follow`];
  if (view.state === 'removing') return [`plinth beta bootstrap-cloud status ${name} --follow`];
  if (view.state === 'removed') return [];
  if (view.state === 'removal-failed') return [view.problem?.advice ?? 'It is tried again by itself.'];
  if (view.state !== 'succeeded' && view.state !== 'succeeded-with-warnings')
    return [
      ...(untold === true ? adviceOf(view) : []),
      'Run the same bootstrap-cloud command again: it goes on from where it stopped.',
    ];
  const { externalIp, tunnel } = jumpboxIn(view) ?? {};
  const identity = files.find(({ what }) => what === 'age identity');
  const secrets = files.find(({ what }) => what === 'secrets');
  return [
    ...((externalIp ?? tunnel) === undefined ? [] : [`plinth beta bootstrap-cloud ssh ${name}`]),
    ...(identity === undefined || secrets === undefined
      ? []
      : [`SOPS_AGE_KEY_FILE=${shellWord(identity.path)} sops ${shellWord(secrets.path)}`]),
    ...(files.length > 0 || withoutFiles === true
      ? []
      : ['Run the same bootstrap-cloud command again in your folder: it writes config and secrets files.']),
  ];
}
