/** Effective organization policies in the older form of Resource Manager v1. */
import type { CloudCall, Handler, JsonObject } from '../kernel/api.js';
import { badRequest } from '../kernel/errors.js';
import { textOf } from '../kernel/json-fields.js';
import { isConstraint } from '../worlds/constraints.js';
import { effectiveOn } from './policies.js';

const getEffective: Handler = (call, world): JsonObject => {
  const constraint = textOf(call.body['constraint']) ?? '';
  const name = constraint.replace(/^constraints\//, '');
  if (!isConstraint(name)) {
    throw badRequest('Request contains an invalid argument.', 'constraint', `Unknown constraint: ${constraint}`);
  }
  const effective = effectiveOn(world, call.resource, name, 'shown');
  if (effective.kind === 'boolean') return { constraint, booleanPolicy: { enforced: effective.enforced } };
  const { all, allowed, denied } = effective;
  return {
    constraint,
    listPolicy: {
      ...(all === undefined ? {} : { allValues: all }),
      ...(allowed.length === 0 ? {} : { allowedValues: [...allowed] }),
      ...(denied.length === 0 ? {} : { deniedValues: [...denied] }),
    },
  };
};

const methods = ['projects', 'folders', 'organizations'].map(
  (kind) => `cloudresourcemanager.${kind}.getEffectiveOrgPolicy`,
);

export const effectivePolicyHandlers = Object.fromEntries(methods.map((method) => [method, getEffective]));

export const effectivePolicyAccess = Object.fromEntries(
  methods.map((method) => [method, ({ resource }: CloudCall) => [{ permission: 'orgpolicy.policy.get', resource }]]),
);
