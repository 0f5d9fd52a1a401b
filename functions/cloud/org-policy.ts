/** Wraps Organization Policy: which policy is in force for a project, folder or organization. */
import { createRest, type Transport } from './rest.js';

/** Of a boolean constraint, `enforce`. Of a list constraint, one of the others. */
interface PolicyRule {
  readonly enforce?: boolean;
  readonly allowAll?: boolean;
  readonly denyAll?: boolean;
  readonly values?: { readonly allowedValues?: readonly string[]; readonly deniedValues?: readonly string[] };
  readonly condition?: unknown;
  readonly parameters?: unknown;
}

export interface EffectivePolicy {
  /** `folders/1/policies/compute.requireOsLogin`. For a project it has the number. */
  readonly name?: string;
  readonly spec?: { readonly rules?: readonly PolicyRule[] };
}

export function createOrgPolicy(transport: Transport) {
  const rest = createRest(transport, 'orgpolicy');
  return {
    /**
     * What all policies above come to. Google merges them and judges their conditions by the tags of `place`. Where nobody has
     * set one, it tells the default of the constraint.
     */
    effective: (place: string, constraint: string) =>
      rest<EffectivePolicy>('GET', `/v2/${place}/policies/${constraint}:getEffectivePolicy`, {
        doing: `read the organization policy ${constraint} in force for ${place}`,
      }),
  };
}
