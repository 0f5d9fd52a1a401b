/** A bootstrap as the HTTP API shows it: what exists, what runs, and what it waits for. */
import * as z from 'zod';
import { moment, text } from '../api.js';
import { TeamId } from '../organization/team-id.js';
import { CostEstimate } from './cost.js';
import { Forecast } from './forecast.js';

/**
 * `succeeded-with-warnings`: everything required exists, but something optional failed. The warnings name it. `succeeded`,
 * `failed` and `cancelled` are final until a resume, which starts a new generation. `removing` ends as `removed` or as
 * `removal-failed`, which is retried. A bootstrap comes back from neither.
 */
export const BootstrapState = z
  .enum([
    'running',
    'cancelling',
    'succeeded',
    'succeeded-with-warnings',
    'failed',
    'cancelled',
    'removing',
    'removal-failed',
    'removed',
  ])
  .meta({
    id: 'BootstrapState',
    description:
      'From `succeeded`, `succeeded-with-warnings`, `failed` and `cancelled` a resume goes on; `removed` is the end of all',
  });
export type BootstrapState = z.infer<typeof BootstrapState>;

/**
 * `waiting`: for other instances · `ready`: published · `running`: leased · `client`: needs the caller's machine · `gone`:
 * what it made is removed.
 */
export const InstanceState = z
  .enum(['waiting', 'ready', 'running', 'client', 'done', 'failed', 'cancelled', 'gone'])
  .meta({
    id: 'InstanceState',
    description:
      "`waiting` for other instances, `ready` to run, `client`: needs the caller's machine, `gone`: what it made is removed",
    examples: ['done'],
  });
export type InstanceState = z.infer<typeof InstanceState>;

export const MachineAccess = z.enum(['iap', 'direct'], 'must be iap or direct').meta({
  id: 'MachineAccess',
  description: '`iap`: machines are reached through Identity-Aware Proxy. `direct`: the jumpbox has a public address',
  examples: ['iap'],
});
export type MachineAccess = z.infer<typeof MachineAccess>;

const TunnelPlace = z
  .object({
    project: text('Id of the project', 'my-first-1a2b3c'),
    zone: text('Of the VM', 'europe-west4-a'),
    instance: text('Name of the VM', 'jumpbox'),
  })
  .meta({
    id: 'TunnelPlace',
    description:
      'Where a tunnel of Identity-Aware Proxy ends. Who opens it needs `roles/iap.tunnelResourceAccessor` on the project',
  });

export const MachineLogin = z.enum(['keys', 'os-login']).meta({
  id: 'MachineLogin',
  description:
    '`keys`: by SSH keys in the metadata of machines. `os-login`: the organization requires OS Login, so everybody logs in by a key of their own Google account',
  examples: ['keys'],
});
export type MachineLogin = z.infer<typeof MachineLogin>;

export const LoadBalancers = z.enum(['external', 'internal'], 'must be external or internal').meta({
  id: 'LoadBalancers',
  description:
    '`external`: the platform has public addresses. `internal`: addresses of the subnet, for its network alone',
  examples: ['external'],
});
export type LoadBalancers = z.infer<typeof LoadBalancers>;

/** A quota that is too low. `asked` and what follows are missing where Google was not asked or has not answered. */
export const QuotaShort = z
  .object({
    metric: text("Compute Engine's name of the quota", 'CPUS'),
    limit: z.number().meta({ description: 'What Google allows', examples: [24] }),
    need: z.number().meta({ description: 'What the bootstrap uses', examples: [52] }),
    asked: z.number().optional().meta({ description: 'What Google was asked for' }),
    granted: z.number().optional().meta({ description: 'What Google granted' }),
    answer: z.string().optional().meta({ description: "Google's words, or why it could not be asked" }),
  })
  .meta({ id: 'QuotaShort', description: 'A quota that is too low for a bootstrap' });
export type QuotaShort = z.infer<typeof QuotaShort>;

/** A failure as it is stored and shown. Never holds a secret. */
export const StoredProblem = z
  .object({
    code: text('Of the table of problems', 'cloud-quota'),
    detail: text('What happened and why', 'A quota of the region is exceeded: CPUS.'),
    advice: z.string().optional().meta({ description: 'What to do next' }),
    short: z.array(QuotaShort).optional().meta({ description: 'The quotas that are too low' }),
    members: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({
        description: 'What programs read of it: of `cloud-policy`, `place`, `mayChange` and `constraints`',
        examples: [{ place: 'folders/111111111111' }],
      }),
  })
  .meta({ id: 'StoredProblem', description: 'Why something failed; never holds a secret' });
export type StoredProblem = z.infer<typeof StoredProblem>;

export const InstanceView = z
  .object({
    id: text('`<step>` or `<step>:<key>`', 'vm:k0s-1'),
    step: text('Name of the step', 'vm'),
    key: text('Which of the step, where there are several', 'k0s-1').optional(),
    title: text('For people', 'VM k0s-1'),
    state: InstanceState,
    note: z.string().optional().meta({ description: 'What it waits for, in words, while it runs' }),
    attempt: z.int().meta({ description: 'Failures so far in this generation', examples: [0] }),
    startedAt: moment('Its first claim in this generation').optional(),
    endedAt: moment('When it came to its end', '2026-11-23T09:02:00.000Z').optional(),
    problem: StoredProblem.optional(),
    // Missing in answers of earlier releases.
    lane: z.enum(['cloud', 'host']).optional().meta({ description: 'Done by calls of Google Cloud, or on machines' }),
    needs: z
      .array(z.string())
      .optional()
      .meta({ description: 'Ids of what is done before. A removal goes the other way', examples: [['project']] }),
  })
  .meta({ id: 'Instance', description: 'One thing that a bootstrap makes: a step, or one of several of a step' });
export type InstanceView = z.infer<typeof InstanceView>;

export const VmView = z
  .object({
    name: text('Of the VM', 'k0s-1'),
    zone: text('Where it is', 'europe-west4-a'),
    machineType: text("Google's name of its size", 'e2-standard-8'),
    internalIp: text('Within the network', '10.10.0.2'),
    externalIp: text('From outside', '203.0.113.7').optional(),
    tunnel: TunnelPlace.optional().meta({
      description: 'Of the jumpbox, if `machineAccess` is `iap`. It has no public address then',
    }),
    hostKeys: z.array(z.string()).optional().meta({
      description: 'Each as `<type> <base64>`, as the VM published them: the only ones to trust. Missing until it has',
    }),
    provisioning: z.enum(['standard', 'spot', 'preemptible', 'fallback']).meta({
      description: '`fallback`: spot was asked for, a standard VM was made because there was no spot capacity',
    }),
    createdAt: moment('When Compute Engine made it').optional(),
    stoppedAt: z.iso.datetime().optional().meta({
      description: 'When it was stopped or taken away last. Unless `stopped`, it has been started again since',
    }),
    stopped: z
      .literal(true)
      .optional()
      .meta({ description: 'It does not run: plinth stopped it, because the bootstrap came to cost more than it may' }),
  })
  .meta({ id: 'Vm', description: 'A VM that stands' });
export type VmView = z.infer<typeof VmView>;

export const AddressView = z
  .object({
    name: text('Of the address', 'gateway'),
    address: text('IPv4', '203.0.113.8'),
    createdAt: moment('When Compute Engine reserved it').optional(),
    service: z.string().optional().meta({
      description: '`<namespace>/<name>` of the Kubernetes service that has it, once the platform is installed',
    }),
  })
  .meta({ id: 'Address', description: 'A static address that is reserved' });

export const PoliciesView = z
  .object({
    place: text(
      'Whose policies were read: a folder, an organization, or the project once it stands',
      'folders/111111111111',
    ),
    findings: z
      .array(
        z.object({
          constraint: text('Its name at Google', 'compute.vmExternalIpAccess'),
          state: z.enum(['met', 'later', 'unknown', 'unmet']).meta({
            description:
              '`later`: only Google can judge it, when the thing is made. `unknown`: it could not be read or judged. `unmet`: it forbids what is not made yet',
          }),
          hits: text('What it would hit', 'the jumpbox'),
          value: z
            .string()
            .optional()
            .meta({
              description: 'The policy in force. Missing if it was not read',
              examples: ['allow in:europe-locations'],
            }),
          why: z.string().optional().meta({ description: 'How it is met, or why it is not, or not known' }),
        }),
      )
      .meta({ description: 'One for each constraint that concerns this bootstrap' }),
    grant: z.string().optional().meta({ description: 'What plinth lacks to read them. Missing: nothing' }),
  })
  .meta({ id: 'Policies', description: 'What the organization policies in force mean for this bootstrap' });

/** What exists so far. A part is missing until its steps are done. */
export const BootstrapResult = z
  .object({
    policies: PoliciesView.optional(),
    machineLogin: MachineLogin.optional(),
    vms: z.array(VmView).meta({ description: 'Those that are made' }),
    addresses: z.array(AddressView).meta({ description: 'Those that are reserved' }),
    dns: z
      .object({
        project: text('Of the zone', 'my-first-1a2b3c'),
        zone: text('Name of the zone', 'tool-testing'),
        nameServers: z.array(z.string()).meta({ description: 'To delegate the domain to' }),
        parent: z
          .object({ project: text('Of the zone above', 'shared-dns'), zone: text('Its name', 'shared') })
          .optional()
          .meta({ description: 'The zone that delegates the domain. Absent: nothing that plinth wrote does' }),
        records: z
          .array(
            z.object({ name: text('With a dot at its end', 'cs.example.com.'), address: text('IPv4', '203.0.113.8') }),
          )
          .meta({ description: 'Records of type A' }),
      })
      .optional()
      .meta({ description: 'Where the names are' }),
    registry: z.string().optional().meta({ description: 'Where images are pulled from' }),
    platform: z
      .object({ url: text('Its address', 'https://cs.example.com') })
      .optional()
      .meta({ description: 'The platform, once it has been installed. It stays while it is looked at again' }),
    datacenters: z
      .array(
        z.object({
          key: text('`dc1` or `dc2`: what config and secrets are asked for by', 'dc1'),
          id: z.int().meta({ description: 'Datacenter ID' }),
          name: text('Datacenter name', 'dev'),
          ready: z.boolean().meta({ description: 'True once config and secrets can be fetched' }),
        }),
      )
      .meta({ description: 'One, or two' }),
  })
  .meta({ id: 'BootstrapResult', description: 'What stands so far; a part is missing until its steps are done' });
export type BootstrapResult = z.infer<typeof BootstrapResult>;

const RemovalView = z
  .object({
    requestedAt: moment('When it was asked for'),
    by: text('E-mail, or `cleanup`', 'cleanup'),
    why: z.enum(['expired', 'asked']).meta({ description: 'Its time was over, or somebody asked' }),
    failures: z.int().meta({ description: 'Tries that failed in a row', examples: [0] }),
    quarantinedAt: z.iso.datetime().optional().meta({
      description: 'It is left alone until an operator asks again; the reason is the `problem` of the bootstrap',
    }),
  })
  .meta({ id: 'Removal', description: 'That it is to go, or is gone: who asked for it, and how it stands' });

const VmsStoppedView = z
  .object({
    at: moment('When that was decided'),
    why: text('Why, in words', 'The project costs 2.10 USD an hour, and 1.50 is the most here.'),
    advice: text(
      'What to do next',
      'Once the ceiling is raised: plinth beta bootstrap-cloud restart-vms my-first-1a2b3c',
    ),
  })
  .meta({
    id: 'VmsStopped',
    description:
      'Its VMs are stopped, because it came to cost more than it may. Disks and addresses still cost, and its time to live goes on',
  });

export const BootstrapView = z
  .object({
    schema: z.literal(1).meta({ description: 'Version of this form' }),
    id: text('Of the bootstrap', 'b0123456789abcde'),
    name: text('Of the project', 'my first'),
    projectId: text('Of the project', 'my-first-1a2b3c'),
    projectNumber: z.string().optional().meta({ description: "Google's number, once the project is made" }),
    owner: text('E-mail of who has it', 'alice@example.com'),
    state: BootstrapState,
    generation: z.int().meta({ description: 'Raised by each resume and removal', examples: [1] }),
    region: text('Region', 'europe-west4'),
    zone: text('Zone', 'europe-west4-a'),
    machineAccess: MachineAccess.optional(),
    loadBalancers: LoadBalancers.optional(),
    options: z.record(z.string(), z.unknown()).meta({
      description: 'The options by name, secrets left out',
      examples: [{ projectName: 'my first', baseDomain: 'example.com', billingAccount: '012345-6789AB-CDEF01' }],
    }),
    createdAt: moment('When it was begun'),
    deadlineAt: moment('When cleanup removes the project', '2026-11-23T11:00:00.000Z'),
    prepared: z.iso
      .datetime()
      .optional()
      .meta({
        description:
          'Its project was prepared for whoever would ask, and this is since when. Absent: it was made for this bootstrap',
        examples: ['2026-11-21T11:00:00.000Z'],
      }),
    unprepared: z
      .string()
      .optional()
      .meta({
        description: 'Why it took no prepared project. Absent where the deployment prepares none',
        examples: ['no prepared project of its pool could be had'],
      }),
    protection: z
      .object({ until: moment('Its end'), reason: text('Why', 'A demo'), by: text('Who', 'alice@example.com') })
      .optional()
      .meta({ description: 'Not removed before `until`, whatever the deadline' }),
    sharedWith: z.array(z.string()).meta({
      description: 'E-mails of those it is shared with: they see it, and may extend it',
      examples: [['bob@example.com']],
    }),
    team: TeamId.optional().meta({
      description:
        'Number of the team that it belongs to. Its members see it, and its admins extend, protect and remove it',
      examples: [42],
    }),
    sharedWithTeams: z
      .array(TeamId)
      .optional()
      .meta({ description: 'Numbers of the teams that it is shared with. Absent: none', examples: [[43]] }),
    removal: RemovalView.optional(),
    vmsStopped: VmsStoppedView.optional(),
    unplanned: z
      .array(
        z.object({
          name: text('Of the VM', 'my-own'),
          zone: text('Where it is', 'europe-west4-a'),
          since: moment('When plinth saw it first'),
        }),
      )
      .optional()
      .meta({ description: 'VMs of its project that plinth did not make, as of the last hour. Nothing counts them' }),
    cost: CostEstimate,
    forecast: Forecast.optional().meta({ description: 'While it runs: how long it still takes' }),
    expiryWarning: z
      .object({
        at: moment('When it was warned'),
        removeAt: moment('When it is removed'),
        text: text('What will happen, in words', 'my first is removed in an hour.'),
        advice: text(
          'What keeps it longer, as a command',
          'plinth beta bootstrap-cloud extend my-first-1a2b3c --ttl 4h',
        ),
      })
      .optional()
      .meta({ description: 'The last warning that its time will be over; a new deadline takes it away' }),
    endedAt: z.iso.datetime().optional().meta({ description: 'When it came to its end' }),
    warnings: z.array(z.string()).meta({ description: 'What is not as it should be, in words', examples: [[]] }),
    problem: StoredProblem.optional(),
    instances: z.array(InstanceView).meta({ description: 'In the order in which they may start' }),
    result: BootstrapResult,
  })
  .meta({ id: 'Bootstrap', description: 'One bootstrap: its instances and what stands so far' });
export type BootstrapView = z.infer<typeof BootstrapView>;

/** One row of `list`. */
export const BootstrapSummary = BootstrapView.pick({
  id: true,
  name: true,
  projectId: true,
  owner: true,
  state: true,
  region: true,
  createdAt: true,
  deadlineAt: true,
  protection: true,
  sharedWith: true,
  team: true,
  sharedWithTeams: true,
  removal: true,
  vmsStopped: true,
  cost: true,
  forecast: true,
  endedAt: true,
  problem: true,
})
  .extend({
    progress: z
      .object({
        done: z.int().meta({ description: 'Those that are done; of a removal those that are gone', examples: [45] }),
        total: z.int().meta({ description: 'All of them', examples: [65] }),
      })
      .optional()
      .meta({ description: 'While it runs, is cancelled or is removed: how many instances have come to their end' }),
  })
  .meta({ id: 'BootstrapSummary', description: 'One bootstrap, in short' });
export type BootstrapSummary = z.infer<typeof BootstrapSummary>;
