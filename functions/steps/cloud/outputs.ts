/** Defines the schemas of the cloud steps' outputs. */
import * as z from 'zod';
import { AddressView, MachineLogin, PoliciesView, VmView } from '../../../shared/bootstrap/bootstrap.js';

/** The record of an adopted project holds the output of `project` alone, and its steps read these two. */
export const PoliciesOutput = PoliciesView.default({ place: '', findings: [] });
export const MachineLoginOutput = z
  .object({
    by: MachineLogin,
    /** The organization requires OS Login, as of this look. */
    isRequired: z.boolean(),
    /** Flags that OS Login takes the effect from. */
    withoutEffect: z.array(z.string()),
  })
  .default({ by: 'keys', isRequired: false, withoutEffect: [] });
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
export const FirewallOutput = z.object({
  rules: z.array(z.string()),
  /** The rule above the project that closes SSH to the jumpbox, in words. */
  closedBy: z.string().optional(),
});
export const RouterOutput = z.object({ router: z.string(), nat: z.string() });
export const AddressOutput = AddressView;
/** Of an address that was asked for, and is not seen as wanted. */
export const AddressUnfinished = AddressOutput.pick({ createdAt: true });
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
export const VmOutput = VmView.omit({ tunnel: true });
/** Of a VM that was requested, and is not seen as wanted. */
export const VmUnfinished = VmOutput.pick({ machineType: true, provisioning: true, createdAt: true }).extend({
  /** The size of its disks, where nothing else of the VM exists: Google can leave them after a stockout. */
  diskGb: z.number().optional(),
});
/** Names of the steps whose things cost money. They, and no others, tell what is there of what they have not finished. */
export const costlySteps: readonly string[] = ['vm', 'address'];
