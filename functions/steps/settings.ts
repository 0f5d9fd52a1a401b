/** Settings of what bootstraps make: machines and how they are reached, roles, and where their software is from. */
import * as z from 'zod';
import { LoadBalancers, MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import { Email } from '../../shared/organization/email.js';
import type { Fault } from '../../shared/problems.js';
import type { Releases } from '../../shared/release.js';
import { accessFaults, SourceRanges, sourceRangesOf } from '../../shared/source-ranges.js';
import { sshProxyForm, sshProxyRule } from '../../shared/ssh-proxy.js';
import {
  bucketName,
  ifSet,
  onOrOff,
  optional,
  type Rows,
  required,
  setting,
  text,
  url,
  type Values,
} from '../setting.js';

/** The bundler inserts it, because only the bundler knows the executable built from the same sources. */
declare const PLINTH_RELEASE_SHA256: string | undefined;
const builtSha256 = typeof PLINTH_RELEASE_SHA256 === 'string' ? PLINTH_RELEASE_SHA256 : undefined;

/** A folder of a bucket, or of any web server. */
const releasesUrl = z.union([
  text
    .transform((value) => value.replace(/\/+$/, ''))
    .refine((value) => /^gs:\/\/[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](\/[\w.-]+)*$/.test(value), {
      message: 'must be gs://<bucket>/<folder> or an https URL',
    }),
  url,
]);
/** Traffic through the proxy is encrypted end to end, so plain http is fine. */
const proxy = text.regex(sshProxyForm, sshProxyRule).transform((value) => value.replace(/\/$/, ''));

export const stepSettings = {
  PLINTH_MACHINE_ACCESS: required(
    MachineAccess,
    'How functions and people reach the machines of new bootstraps. `iap`: through Identity-Aware Proxy. The jumpbox has no public address, and port 22 is open to IAP alone. `direct`: the jumpbox has a public address, and port 22 is open to `PLINTH_SSH_SOURCE_RANGES`. A bootstrap keeps what it began with.',
  ),
  PLINTH_SSH_SOURCE_RANGES: setting(
    SourceRanges,
    'Ranges from which the jumpbox takes SSH with `PLINTH_MACHINE_ACCESS=direct`, as `203.0.113.7/32` or `2001:db8::/32`. Each begins with its first address. The functions need addresses among them, and so do the people. A standing bootstrap takes other ranges with its next run.',
    '',
  ),
  PLINTH_MACHINE_ACCESS_OPEN: setting(
    onOrOff,
    'Whether port 22 of the jumpbox may be open to everybody with `PLINTH_MACHINE_ACCESS=direct`: without ranges, or with `0.0.0.0/0` or `::/0` among them. `off` refuses both.',
    'off',
  ),
  PLINTH_SSH_PROXY: optional(
    proxy,
    'HTTP CONNECT proxy for SSH to machines, as `http://host:port`: where the way out leads through one. The command line knows a variable of the same name.',
  ),
  PLINTH_LOAD_BALANCERS: setting(
    LoadBalancers,
    "Load balancers of the platforms of new bootstraps. `external`: with public addresses. `internal`: with addresses of the subnet, which only the bootstrap's network and those connected to it reach. A bootstrap keeps what it began with.",
    'external',
  ),
  PLINTH_HOSTS: setting(
    onOrOff,
    'Whether bootstraps go on to the machines, over SSH; `off`: they end when the cloud resources stand.',
    'on',
  ),
  PLINTH_VM_IMAGE: setting(
    text.regex(
      /^projects\/[a-z0-9:.-]+\/global\/images\/(?:family\/)?[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      'must be an image, as projects/<project>/global/images/family/<family> or projects/<project>/global/images/<image>',
    ),
    'Image of new VMs: Ubuntu 22.04, or one made from it. Its project gives `plinth-run-cloud-step` the role `roles/compute.imageUser`.',
    'projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts',
  ),
  PLINTH_CALLER_ROLE: setting(
    text.regex(/^(?:roles|projects\/[^/]+\/roles|organizations\/\d+\/roles)\/[\w.]+$/, 'must be a role'),
    'Role that the owner gets on their own project. With `roles/editor` they make what they like there, on your bill, and act as its service accounts. Who is invited never gets more.',
    'roles/editor',
  ),
  PLINTH_NODES_ZONE_ROLE: optional(
    text.regex(
      /^(?:projects|organizations)\/[^/]+\/roles\/[A-Za-z0-9_.]{3,64}$/,
      'must be a custom role, as projects/<id>/roles/<role> or organizations/<number>/roles/<role>',
    ),
    "Custom role of the nodes on a DNS zone of another project that is for their domain itself. Whoever has a node can then change that zone's names. Unset: they get none, and certificates by DNS fail there.",
  ),
  PLINTH_QUOTA_CONTACT: optional(
    Email,
    'E-mail that Google may write to about a request for quota. plinth then asks for what a project lacks. Unset: nothing is asked, and a project that lacks quota fails at once.',
  ),
  PLINTH_RELEASES_URL: optional(
    releasesUrl,
    'Base URL of the releases of plinth: machines fetch `v<version>/<its SHA-256>/plinth-linux-amd64` there. `gs://<bucket>/<folder>`: a private bucket, by signed URL. `https://…`: a mirror that needs no credentials. Terraform names the bucket of releases. Unset: only with `--remote-cli-binary`.',
  ),
  PLINTH_RELEASE_SHA256: optional(
    text.regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits in lower case'),
    "SHA-256 of this version's executable there. Unset: as this build of the functions knows it.",
  ),
  PLINTH_PACKAGES_BUCKET: optional(
    bucketName,
    'Cloud Storage bucket of the installer packages, `packages/<version>/<hash>/installer[-lite].tar.gz`. Unset: nothing is installed by version or hash.',
  ),
} satisfies Rows;

type Read = Values<typeof stepSettings>;

export interface StepsConfig {
  /** How machines of new bootstraps are reached. */
  readonly machineAccess: MachineAccess;
  /** From which the jumpbox takes SSH where it has a public address. Empty: nobody said. */
  readonly sshSourceRanges: readonly string[];
  /** HTTP CONNECT proxy for connections to machines: `http://host:port`. */
  readonly sshProxy?: string;
  /** Of the platforms of new bootstraps. */
  readonly loadBalancers: LoadBalancers;
  /** Whether bootstraps go on to the machines. */
  readonly hosts: boolean;
  /** Of new VMs' boot disks, as `projects/<project>/global/images/[family/]<name>`. */
  readonly vmImage: string;
  /** The role that the caller gets on their project. */
  readonly callerRole: string;
  /** Role of the nodes on a zone of another project that is for their domain itself. Undefined: they get none. */
  readonly nodesZoneRole?: string;
  /** Whom Google may write to about a request for quota. Undefined: nothing is asked for. */
  readonly quotaContact?: string;
  /** Where machines fetch plinth's own executable, and the SHA-256 they check it against. */
  readonly releases: Releases;
  /** Bucket of the installer packages. Undefined: nothing can be installed by version or hash. */
  readonly packagesBucket?: string;
}

export const readSteps = (read: Read): StepsConfig => ({
  machineAccess: read.PLINTH_MACHINE_ACCESS,
  sshSourceRanges: sourceRangesOf(accessOf(read)),
  ...ifSet('sshProxy', read.PLINTH_SSH_PROXY),
  loadBalancers: read.PLINTH_LOAD_BALANCERS,
  hosts: read.PLINTH_HOSTS === 'on',
  vmImage: read.PLINTH_VM_IMAGE,
  callerRole: read.PLINTH_CALLER_ROLE,
  ...ifSet('nodesZoneRole', read.PLINTH_NODES_ZONE_ROLE),
  ...ifSet('quotaContact', read.PLINTH_QUOTA_CONTACT),
  releases: {
    ...ifSet('url', read.PLINTH_RELEASES_URL),
    ...ifSet('sha256', read.PLINTH_RELEASE_SHA256 ?? builtSha256),
  },
  ...ifSet('packagesBucket', read.PLINTH_PACKAGES_BUCKET),
});

const accessOf = (read: Partial<Read>) => ({
  machineAccess: read.PLINTH_MACHINE_ACCESS,
  ranges: read.PLINTH_SSH_SOURCE_RANGES,
  open: read.PLINTH_MACHINE_ACCESS_OPEN === 'on',
});

/** Port 22 is open to nobody whom the settings do not name. */
export const stepFaults = (read: Partial<Read>): readonly Fault[] => accessFaults(accessOf(read));
