/** Refuses calls that an organization policy forbids. Every call passes here before its handler. */

import { serviceAccounts } from '../iam/service-accounts.js';
import { type CloudCall, GoogleError, type JsonObject, type ProjectRecord, type World } from '../kernel/api.js';
import { objectOf, objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { lookUpProject } from '../kernel/projects.js';
import { bucketNameIn } from '../storage/buckets.js';
import { buckets } from '../storage/objects.js';
import { type ConstraintName, constraintNames, constraintOf } from '../worlds/constraints.js';
import { forwardsProtocol, loadBalancerFits, typeOfForwardingRule } from './forwarding-types.js';
import { strangersIn } from './member-domains.js';
import { imageProjectsIn, locationFits, locationsOf, resourceOf } from './named-in-call.js';
import { allows, type Effective, effectiveOn } from './policies.js';

/** What a refusal names. */
interface Violation {
  readonly resource?: string;
  readonly value?: string;
  readonly members?: readonly string[];
}

interface Asked {
  readonly call: CloudCall;
  readonly world: World;
  readonly policy: Effective;
  /** `projects/…`, `folders/…` or `organizations/…`, by id. */
  readonly place: string;
  readonly project: ProjectRecord | undefined;
}

/** Says what the call does against the policy. It is asked only where a policy restricts something. */
type Check = (asked: Asked) => Violation | undefined;

const itself: Check = () => ({});

/** An exact value, with or without `is:`. */
const same = (value: string) => (pattern: string) => pattern === value || pattern === `is:${value}`;

function checkOsLogin({ call: { body } }: Asked): Violation | undefined {
  const metadata = objectOf(body['metadata']) ?? body;
  const off = objectsOf(metadata['items']).some(
    ({ key, value }) => key === 'enable-oslogin' && String(value).toLowerCase() === 'false',
  );
  return off ? {} : undefined;
}

function checkShieldedVm({ call: { body, method } }: Asked): Violation | undefined {
  const config = (method.endsWith('insert') ? objectOf(body['shieldedInstanceConfig']) : body) ?? {};
  if (config['enableSecureBoot'] !== true) return { value: 'Secure Boot' };
  if (config['enableVtpm'] === false) return { value: 'Virtual Trusted Platform Module' };
  return config['enableIntegrityMonitoring'] === false ? { value: 'Integrity Monitoring' } : undefined;
}

function checkExternalIp({ call, policy }: Asked): Violation | undefined {
  const isExternal =
    call.method.endsWith('addAccessConfig') ||
    objectsOf(call.body['networkInterfaces']).some((nic) => objectsOf(nic['accessConfigs']).length > 0);
  const resource = call.method.endsWith('insert') ? resourceOf(call) : call.resource.split('/').slice(0, 6).join('/');
  return isExternal && !allows(policy, same(resource)) ? { resource } : undefined;
}

function checkLoadBalancer({ call, policy }: Asked): Violation | undefined {
  if (forwardsProtocol(call.body)) return undefined;
  const value = typeOfForwardingRule(call);
  return allows(policy, loadBalancerFits(value)) ? undefined : { resource: resourceOf(call), value };
}

function checkProtocolForwarding({ call, policy }: Asked): Violation | undefined {
  if (!forwardsProtocol(call.body)) return undefined;
  const value = textOf(call.body['loadBalancingScheme'])?.startsWith('INTERNAL') === true ? 'INTERNAL' : 'EXTERNAL';
  return allows(policy, same(value)) ? undefined : { resource: resourceOf(call), value };
}

function checkLocation({ call, policy }: Asked): Violation | undefined {
  const location = locationsOf(call).find(({ name }) => !allows(policy, locationFits(name)));
  return location === undefined ? undefined : { value: location.shown, resource: resourceOf(call) };
}

function checkImages({ call, policy }: Asked): Violation | undefined {
  const foreign = imageProjectsIn(call).find(
    (name) => !allows(policy, (pattern) => pattern.replace(/^is:/, '') === `projects/${name}`),
  );
  return foreign === undefined ? undefined : { value: foreign };
}

function checkBucket({ call: { body, method } }: Asked): Violation | undefined {
  const given = objectOf(objectOf(body['iamConfiguration'])?.['uniformBucketLevelAccess']);
  if (given === undefined && !method.endsWith('insert')) return undefined;
  return given?.['enabled'] === true ? undefined : {};
}

/** Services that are needed to change a policy, or that hold no resources. */
const alwaysAllowed = ['cloudresourcemanager', 'iam', 'cloudbilling', 'serviceusage', 'orgpolicy', 'cloudquotas'];

/** Whether a project may use a service that is asked otherwise than by a call. */
export function mayUseService(world: World, project: string, service: string): boolean {
  const policy = effectiveOn(world, `projects/${project}`, 'gcp.restrictServiceUsage');
  return allows(policy, same(service));
}

function checkService({ call: { method }, policy }: Asked): Violation | undefined {
  const host = method.split('.')[0] ?? '';
  const value = `${host}.googleapis.com`;
  return alwaysAllowed.includes(host) || allows(policy, same(value)) ? undefined : { value };
}

const checkEnabling: Check = ({ call: { body, resource }, policy }) => {
  const named = [...textsOf(body['serviceIds']), resource.split('/').at(-1) ?? ''];
  const value = named.find((name) => name.endsWith('.googleapis.com') && !allows(policy, same(name)));
  return value === undefined ? undefined : { value };
};

const checkMembers: Check = ({ call, world, policy }) => {
  const members = strangersIn(call, world, policy);
  return members.length === 0 ? undefined : { members };
};

const checks: Readonly<Partial<Record<ConstraintName, Check>>> = {
  'iam.disableServiceAccountCreation': itself,
  'iam.allowedPolicyMemberDomains': checkMembers,
  'storage.uniformBucketLevelAccess': checkBucket,
  'compute.restrictProtocolForwardingCreationForTypes': checkProtocolForwarding,
  'compute.requireOsLogin': checkOsLogin,
  'compute.requireShieldedVm': checkShieldedVm,
  'compute.vmExternalIpAccess': checkExternalIp,
  'compute.disableGuestAttributesAccess': itself,
  'compute.disableSerialPortAccess': itself,
  'compute.restrictLoadBalancerCreationForTypes': checkLoadBalancer,
  'gcp.resourceLocations': checkLocation,
  'compute.trustedImageProjects': checkImages,
  'gcp.restrictServiceUsage': checkService,
  'serviceuser.services': checkEnabling,
};

const concerns = (pattern: string, method: string): boolean =>
  pattern === method ||
  (pattern.endsWith('*') && method.startsWith(pattern.slice(0, -1))) ||
  (pattern.startsWith('*') && method.endsWith(pattern.slice(1)));

const known = new Map<string, readonly ConstraintName[]>();

/** The constraints that can refuse a method. */
function concerning(method: string): readonly ConstraintName[] {
  const found =
    known.get(method) ??
    constraintNames.filter((name) => constraintOf(name).methods.some((pattern) => concerns(pattern, method)));
  known.set(method, found);
  return found;
}

/** Where the policies of a call are found: its project, or the folder or organization that it names. */
function placeOf(call: CloudCall, world: World): string | undefined {
  const bucket = buckets(world)[call.params['bucket'] ?? ''];
  const [kind = '', name = ''] = call.resource.split('/');
  if (kind === 'folders' || kind === 'organizations') return `${kind}/${name}`;
  const id =
    bucket?.projectId ?? call.params['project'] ?? (kind === 'projects' ? projectNamed(name, call, world) : '');
  const project = lookUpProject(world, id);
  return project === undefined ? undefined : `projects/${project.projectId}`;
}

/** Google finds an account in `projects/-` by its e-mail alone. */
const projectNamed = (name: string, { resource }: CloudCall, world: World): string =>
  name === '-' ? (serviceAccounts(world)[resource.split('/')[3] ?? '']?.projectId ?? '') : name;

/** Throws the refusal of the first constraint that the call violates. Compute names the others beside it. */
export function checkOrganizationPolicies(call: CloudCall, world: World): void {
  // Google refuses what is no name with 400, whatever the policies say.
  if (call.method === 'storage.buckets.insert') bucketNameIn(call);
  const place = placeOf(call, world);
  if (place === undefined) return;
  const project = lookUpProject(world, place.slice('projects/'.length));
  const violations = concerning(call.method).flatMap((name): [ConstraintName, Violation][] => {
    const policy = effectiveOn(world, place, name);
    const isOpen = policy.kind === 'boolean' ? !policy.enforced : policy.all === 'ALLOW' && policy.denied.length === 0;
    const violation = isOpen ? undefined : checks[name]?.({ call, world, policy, place, project });
    return violation === undefined ? [] : [[name, violation]];
  });
  const [first, ...others] = violations;
  if (first === undefined) return;
  const textOfOne = ([name, violation]: [ConstraintName, Violation]) =>
    refusalText(constraintOf(name).refusal?.text ?? '', place, project, violation);
  throw refusal(first[0], call, place, textOfOne(first), others.map(textOfOne), first[1]);
}

function refusalText(
  form: string,
  place: string,
  project: ProjectRecord | undefined,
  { resource = '', value = '' }: Violation,
): string {
  const words: Readonly<Record<string, string>> = {
    project: project?.projectId ?? place,
    number: project?.projectNumber ?? place,
    resource,
    value,
  };
  return form.replaceAll(/\{(\w+)\}/g, (_, key: string) => words[key] ?? '');
}

function refusal(
  name: ConstraintName,
  call: CloudCall,
  place: string,
  text: string,
  also: readonly string[],
  { members = [] }: Violation,
): GoogleError {
  const { code = 412, status = 'FAILED_PRECONDITION' } = constraintOf(name).refusal ?? {};
  if (code === 403) return new GoogleError(code, status, text, { reason: 'forbidden' });
  if (code === 412 || call.method.startsWith('storage.')) {
    return new GoogleError(412, status, text, { reason: 'conditionNotMet', also });
  }
  const subject = `${call.resource}?configvalue=${encodeURIComponent(call.resource.split('/').at(-1) ?? '')}`;
  const violations = members.map((member): JsonObject => {
    const who = member.slice(member.indexOf(':') + 1);
    return {
      type: `constraints/${name}`,
      subject: `orgpolicy:${place}?configvalue=${encodeURIComponent(who)}`,
      description: `User ${who} is not in permitted organization.`,
    };
  });
  return new GoogleError(code, status, text, {
    reason: 'failedPrecondition',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.PreconditionFailure',
        violations: members.length > 0 ? violations : [{ type: `constraints/${name}`, subject, description: text }],
      },
    ],
  });
}
