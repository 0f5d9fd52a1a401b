/** Conditions of grants, in Google's Common Expression Language: checked when a policy is written, judged at each call. */
import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import type { JsonObject } from '../kernel/api.js';
import { badRequest, notSimulated } from '../kernel/errors.js';
import { textOf } from '../kernel/json-fields.js';

/** What a condition is judged by. */
export interface Circumstances {
  /** The resource the call is checked on, not the one it makes, by its name at Google. */
  readonly resource: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Attributes that Google has and the simulated cloud does not. */
const unserved =
  /\b(api\.getAttribute|request\.(auth|path|host|method|user_agent)|destination\.(ip|port)|resource\.(matchTag|matchTagId|hasTagKey|hasTagKeyId))\b/;

const environment = new Environment()
  .registerVariable({ name: 'resource', schema: { name: 'string', type: 'string', service: 'string' } })
  .registerVariable({ name: 'request', schema: { time: 'google.protobuf.Timestamp' } })
  .registerFunction('string.extract(string): string', extract);

/** `"projects/p/zones/z".extract("zones/{zone}")` is `z`; `''` where the template does not fit. */
function extract(text: string, template: string): string {
  const [, before = '', after = ''] = /^([^{]*)\{[^}]*\}(.*)$/.exec(template) ?? [];
  const at = text.indexOf(before);
  if (at === -1) return '';
  const rest = text.slice(at + before.length);
  if (after === '') return rest;
  const end = rest.indexOf(after);
  return end === -1 ? '' : rest.slice(0, end);
}

const refused = (why: string) => {
  const message = `LintValidationUnits/ConditionCompileCheck Error: Expression compilation failed. ERROR: ${why}`;
  return badRequest(message, 'policy.bindings.condition.expression');
};

const parsed = new Map<string, ParseResult>();

function parse(expression: string): ParseResult {
  const known = parsed.get(expression);
  if (known !== undefined) return known;
  const { valid, type, error } = environment.check(expression);
  if (!valid) throw refused(error?.message ?? 'The expression is invalid.');
  if (type !== 'bool') throw refused(`The expression must be of type bool, and is of type ${type}.`);
  const made = environment.parse(expression);
  parsed.set(expression, made);
  return made;
}

/** Throws Google's refusal of an expression that does not parse, or asks for what no call has. */
export function checkCondition(condition: JsonObject): void {
  const expression = textOf(condition['expression']) ?? '';
  const [asked] = unserved.exec(expression) ?? [];
  if (asked !== undefined) throw notSimulated(`${asked} in a condition`);
  parse(expression);
}

/** A condition whose judgement fails does not hold. */
export function conditionHolds(condition: JsonObject, { resource, now }: Circumstances): boolean {
  try {
    const context = { resource: attributesOf(resource), request: { time: new Date(now) } };
    return parse(textOf(condition['expression']) ?? '')(context) === true;
  } catch {
    return false;
  }
}

/** Google's types, by the last collection in the name. */
const types: Readonly<Record<string, string>> = {
  projects: 'cloudresourcemanager.googleapis.com/Project',
  folders: 'cloudresourcemanager.googleapis.com/Folder',
  organizations: 'cloudresourcemanager.googleapis.com/Organization',
  billingAccounts: 'cloudbilling.googleapis.com/BillingAccount',
  secrets: 'secretmanager.googleapis.com/Secret',
  versions: 'secretmanager.googleapis.com/SecretVersion',
  topics: 'pubsub.googleapis.com/Topic',
  subscriptions: 'pubsub.googleapis.com/Subscription',
  managedZones: 'dns.googleapis.com/ManagedZone',
  repositories: 'artifactregistry.googleapis.com/Repository',
  buckets: 'storage.googleapis.com/Bucket',
  serviceAccounts: 'iam.googleapis.com/ServiceAccount',
};

/** Names of objects may hold slashes. */
const isObject = /^projects\/_\/buckets\/[^/]+\/objects\//;
const objectType = 'storage.googleapis.com/Object';

function attributesOf(resource: string) {
  const type = isObject.test(resource) ? objectType : (types[resource.split('/').at(-2) ?? ''] ?? '');
  return { name: resource, type, service: type.split('/')[0] ?? '' };
}
