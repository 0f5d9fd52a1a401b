/** Defines the schemas of the cloud steps' outputs. */
import * as z from 'zod';
import { AddressView, VmView } from '../../../shared/bootstrap/bootstrap.js';

/** What one organization policy means for this bootstrap. */
export const PolicyFinding = z.object({
  /** `compute.vmExternalIpAccess` */
  constraint: z.string(),
  /**
   * `later`: only Google can judge it, when the thing is made. `unknown`: it can't be read or judged. `unmet`: it forbids what
   * is not made yet. Without a project, that is a failure and no output.
   */
  state: z.enum(['met', 'later', 'unknown', 'unmet']),
  /** What it would hit. */
  hits: z.string(),
  /** The policy in force: `enforced`, `deny all`, `allow in:europe-locations`. Absent: it was not read. */
  value: z.string().optional(),
  /** How it is met, or why it is not, or not known. */
  why: z.string().optional(),
});
export const PoliciesOutput = z
  .object({
    /** Whose policies were read: the parent, or the project once it stands. Empty: they never were. */
    place: z.string(),
    findings: z.array(PolicyFinding),
    /** What plinth lacks to read them. */
    grant: z.string().optional(),
  })
  // Projects that an earlier release began wait for no policies.
  .default({ place: '', findings: [] });
export const ProjectOutput = z.object({ projectId: z.string(), projectNumber: z.string() });
export const BillingOutput = z.object({ account: z.string() });
export const ApisOutput = z.object({ services: z.array(z.string()) });
export const QuotaOutput = z.object({
  checked: z.array(z.object({ metric: z.string(), need: z.number(), limit: z.number() })),
});
export const RolesOutput = z.object({
  resource: z.string(),
  grants: z.array(z.object({ member: z.string(), role: z.string() })),
});
export const AccountOutput = z.object({ email: z.string() });
/** A network resource, by the link that other resources use. */
export const ResourceOutput = z.object({ selfLink: z.string() });
export const FirewallOutput = z.object({ rules: z.array(z.string()) });
export const RouterOutput = z.object({ router: z.string(), nat: z.string() });
export const AddressOutput = AddressView;
export const ZoneOutput = z.object({
  project: z.string(),
  zone: z.string(),
  dnsName: z.string(),
  nameServers: z.array(z.string()),
  /** The zone above that delegates to this one. Absent: plinth delegates nothing. */
  parent: z.object({ project: z.string(), zone: z.string() }).optional(),
});
export const DelegationOutput = z.object({
  /** Absent: the zone lies beneath no other. */
  written: z.object({ project: z.string(), zone: z.string(), name: z.string() }).optional(),
});
export const RecordsOutput = z.object({
  project: z.string(),
  zone: z.string(),
  records: z.array(z.object({ name: z.string(), address: z.string() })),
});
export const RepositoryOutput = z.object({ server: z.string() });
export const EabKeyOutput = z.object({ keyId: z.string(), secretVersion: z.string() });
export const VmOutput = VmView;
