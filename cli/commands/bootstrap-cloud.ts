/** `plinth beta bootstrap-cloud`: begins a bootstrap or goes on with one, follows it, and writes its files. */

import type { BeginReply, PlanReply } from '../../shared/api.js';
import {
  type GivenFlags,
  type GivenOptions,
  isLocal,
  type LocalOptions,
  type Option,
  optionNames,
} from '../../shared/bootstrap/options.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import { checkOptions, type OptionFault, refusalOf } from '../../shared/bootstrap/rules.js';
import type { Client } from '../client.js';
import { type Call, defineCommand } from '../command.js';

export const bootstrapCloud = defineCommand({
  words: 'beta bootstrap-cloud',
  summary: 'Bootstrap the cloud infrastructure that platform clusters need (beta)',
  description: [
    'Bootstraps the cloud infrastructure that platform clusters need: a cloud project with service accounts and the IAM roles they require, network, jumpbox and machines, addresses and DNS; and writes an install config with its secrets. Further configuration may be needed afterwards, depending on the setup.',
    'This command is beta and not for production use. The project is removed when its time to live (--project-ttl) is over.',
    'You need permission to bootstrap in this deployment of plinth, for the billing account, the folder and the DNS zone that you name; plinth itself creates and manages the cloud resources.',
    'With --multi-dc two datacenters are made: 14 VMs with about 100 vCPUs and 6 reserved static addresses. The CPU quota of the region may need raising first.',
    'The same command again goes on with a bootstrap that stands. Ctrl-C detaches: the bootstrap goes on without you. Secrets may also come from the environment, from the variables in square brackets.',
  ],
  options: optionNames,
  flags: {
    'dry-run': 'Print what would be made and in which order, from the options alone. Makes nothing.',
    strict: 'Refuse what would otherwise be warned about.',
  },
  examples: [
    'plinth beta bootstrap-cloud --project-name demo --billing-account 012345-6789AB-CDEF01 --base-domain demo.example.com --forge1-app-client-id ID --forge1-app-client-secret SECRET --spot-vms --timer',
    'plinth beta bootstrap-cloud --dry-run …',
  ],

  async run(call) {
    const { given, output, settings } = call;
    const { options, local, warnings, notes } = await check(call);
    const keys = options.multiDc ? (['dc1', 'dc2'] as const) : (['dc1'] as const);
    for (const text of warnings) output.warn(text);
    for (const note of notes) output.say(note);

    const [{ findSshKey }, { readBase, writeFiles }, follow] = await Promise.all([
      import('../ssh-key.js'),
      import('../standing-files.js'),
      import('../follow.js'),
    ]);
    const client = await call.connect();
    const key = findSshKey(given, local.sshPublicKeyPath, settings.home, settings.configFolder);
    const request: BootstrapRequest = {
      options: travelling(given),
      sshPublicKey: key.publicKey,
      ...(call.has('strict') && { strict: true }),
    };
    if (call.has('dry-run')) return showPlan(await client.plan(request));

    const standing = await client.find(options.projectName);
    const base = standing === undefined ? {} : await readBase(local, keys, standing.id, settings.configFolder);
    if (key.keep !== undefined) {
      key.keep();
      output.say(`No SSH key was found, so plinth made one: ${key.from.replace(/\.pub$/, '')}`);
    }
    const begun = await begin(call, client, { ...request, ...(Object.keys(base).length > 0 && { base }) });
    const others = begun.warnings.filter((text) => !warnings.includes(text));
    for (const text of others) output.warn(text);
    sayBegun(call, begun);

    const { view, timings } = await follow.followToEnd(call, client, begun.bootstrap, local.timer);
    const data = {
      created: begun.created,
      changes: begun.changes,
      warnings: [...warnings, ...others],
      bootstrap: view,
      ...(local.timer && { timings }),
    };
    const problem = follow.problemOfEnd(view);
    const files =
      problem === undefined && local.writeConfig ? await writeFiles(client, view, local, settings.configFolder) : [];
    if (local.timer && !output.json) output.say(follow.timingTable(timings, output.style));
    const { summary } = await import('../summary.js');
    return {
      data: { ...data, files },
      ...(problem !== undefined && { problem }),
      show: (style) => summary(view, style, { files, withoutFiles: !local.writeConfig }),
    };
  },
});

/** All that is wrong with the flags, and with files that stand in the way, at once. */
async function check(call: Call): Promise<ReturnType<typeof checkOptions>> {
  const { given, settings } = call;
  const checked = checkOptions(given, { strict: call.has('strict') });
  const [{ standingFaults }, { sshKeyFaults }, { expandHome, whyUnreadable }] = await Promise.all([
    import('../standing-files.js'),
    import('../ssh-key.js'),
    import('../files.js'),
  ]);
  const local: LocalOptions = {
    ...checked.local,
    installConfig: expandHome(checked.local.installConfig, settings.home),
    secretsFile: expandHome(checked.local.secretsFile, settings.home),
  };
  const values = (given.pcAppsValues ?? []).flatMap((path): OptionFault[] => {
    const why = whyUnreadable(expandHome(path, settings.home));
    return why === undefined ? [] : [{ path: '--pc-apps-values', message: `${path}: ${why}` }];
  });
  const told = new Set(call.faults.map(({ path }) => path));
  const faults: OptionFault[] = [
    ...call.faults,
    // A flag that could not be read is not told of twice.
    ...checked.faults.filter(({ path }) => !told.has(path)),
    ...values,
    ...sshKeyFaults(given, settings.home),
    ...(call.has('dry-run') ? [] : await standingFaults(local, checked.options.multiDc ? ['dc1', 'dc2'] : ['dc1'])),
  ];
  if (faults.length > 0) throw refusalOf(faults);
  return { ...checked, local };
}

const travelling = (given: GivenFlags): GivenOptions =>
  Object.fromEntries(Object.entries(given).filter(([option]) => !isLocal(option as Option)));

/** From here on Ctrl-C may find a bootstrap under way. */
async function begin(call: Call, client: Client, request: BootstrapRequest): Promise<BeginReply> {
  const { detached } = await import('../follow.js');
  try {
    return await client.begin(request);
  } catch (error) {
    throw call.interrupted.aborted ? detached(request.options.projectName ?? '') : error;
  }
}

function sayBegun({ output }: Call, { bootstrap, created, changes }: BeginReply): void {
  output.say(
    `${created ? 'Bootstrapping' : 'Going on with'} ${bootstrap.name} (project ${bootstrap.projectId}) in ${bootstrap.region}, zone ${bootstrap.zone}`,
  );
  const text = (value: unknown) => (value === null || value === undefined ? 'not set' : String(value));
  for (const { option, from, to } of changes) output.say(`  ${option}: ${text(from)} → ${text(to)}`);
}

function showPlan({ instances, warnings }: PlanReply) {
  return {
    data: { dryRun: true, instances, warnings },
    show: () =>
      instances
        .flatMap(({ title, id, needs, makes }, index) => [
          `${String(index + 1).padStart(3)}. ${title} (${id})${needs.length === 0 ? '' : `, after ${needs.join(', ')}`}`,
          ...makes.map((made) => `       ${made}`),
        ])
        .join('\n'),
  };
}
