/** What stands, for people: printed at the end of a bootstrap and by `status`. */
import type { BootstrapView, VmView } from '../shared/bootstrap/bootstrap.js';
import { formatSeconds } from '../shared/bootstrap/duration.js';
import { printable, type Style } from './output.js';
import { shellWord } from './shell-word.js';
import type { WrittenFile } from './standing-files.js';
import { type Cell, table, time } from './table.js';

const provisioning: Readonly<Record<VmView['provisioning'], string>> = {
  standard: 'standard',
  spot: 'spot',
  preemptible: 'preemptible',
  fallback: 'standard, for want of spot capacity',
};

export function summary(view: BootstrapView, files: readonly WrittenFile[], style: Style, nowMs = Date.now()): string {
  const { result } = view;
  const title = (text: string) => style.bold(text);
  const section = (name: string, rows: readonly (readonly Cell[])[]): string[] =>
    rows.length === 0 ? [] : ['', title(name), ...table(rows)];
  const states = {
    succeeded: style.green,
    failed: style.red,
    cancelled: style.yellow,
    cancelling: style.yellow,
    running: style.cyan,
    removing: style.yellow,
    'removal-failed': style.red,
    removed: style.dim,
  };
  return [
    ...table([
      ['Project', `${view.name} (${view.projectId})`],
      ['State', { text: view.state, paint: states[view.state] }],
      ['Region', `${view.region}, zone ${view.zone}`],
      ['Removed', `${time(view.deadlineAt)} (${inWords(view.deadlineAt, nowMs)})`],
      ...(result.registry === undefined ? [] : [['Registry', result.registry]]),
    ]),
    ...section(
      'VMs',
      result.vms.map((vm) => [
        vm.name,
        vm.internalIp,
        vm.externalIp ?? '-',
        vm.machineType,
        provisioning[vm.provisioning],
      ]),
    ),
    ...section(
      'Addresses',
      result.addresses.map(({ name, address }) => [name, address]),
    ),
    ...(result.dns === undefined
      ? []
      : section(`DNS (zone ${printable(result.dns.zone)} in ${printable(result.dns.project)})`, [
          ...result.dns.records.map(({ name, address }) => [name, address]),
          ...result.dns.nameServers.map((server) => ['name server', server]),
        ])),
    ...section(
      'Files',
      files.map(({ path, what, state, movedAside }) => [
        path,
        what,
        movedAside === undefined ? state : `${state}; what stood there is now ${movedAside}`,
      ]),
    ),
    ...nextSteps(view, files).flatMap((line, index) =>
      index === 0 ? ['', title('Next'), `  ${line}`] : [`  ${line}`],
    ),
  ].join('\n');
}

/** What a person would do next, as commands. */
function nextSteps(view: BootstrapView, files: readonly WrittenFile[]): string[] {
  const name = shellWord(view.name);
  if (view.state === 'running' || view.state === 'cancelling')
    return [`plinth beta bootstrap-cloud status ${name} --follow`];
  if (view.state === 'removing') return [`plinth beta bootstrap-cloud status ${name} --follow`];
  if (view.state === 'removed') return [];
  if (view.state === 'removal-failed') return [view.problem?.advice ?? 'It is tried again by itself.'];
  if (view.state !== 'succeeded')
    return ['Run the same bootstrap-cloud command again: it goes on from where it stopped.'];
  const jumpbox = view.result.vms.find((vm) => vm.name === 'jumpbox')?.externalIp;
  const identity = files.find(({ what }) => what === 'age identity');
  const secrets = files.find(({ what }) => what === 'secrets');
  return [
    ...(jumpbox === undefined ? [] : [`ssh ubuntu@${jumpbox}`]),
    ...(identity === undefined || secrets === undefined
      ? []
      : [`SOPS_AGE_KEY_FILE=${shellWord(identity.path)} sops ${shellWord(secrets.path)}`]),
    ...(files.length > 0
      ? []
      : ['Run the same bootstrap-cloud command again in your folder: it writes config and secrets files.']),
  ];
}

function inWords(iso: string, nowMs: number): string {
  const seconds = (Date.parse(iso) - nowMs) / 1000;
  return seconds > 0 ? `in ${formatSeconds(Math.max(60, Math.floor(seconds / 60) * 60))}` : 'its time is over';
}
