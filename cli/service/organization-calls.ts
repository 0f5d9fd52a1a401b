/** How the clients of the organization API call it. */
import * as z from 'zod';
import type { Route } from '../../shared/api.js';
import { Member, type Role } from '../../shared/organization/organization.js';
import type { ServiceTransport } from './transport.js';

/** `added` is false if the person was already a member with that role. */
export interface AddedMember {
  readonly member: Member;
  readonly added: boolean;
}

export type Calls = ReturnType<typeof createCalls>;

export function createCalls({ askPatiently }: ServiceTransport) {
  const ask = async <T>(...call: Parameters<typeof askPatiently<T>>): Promise<T> => (await askPatiently(...call)).data;
  const list = <T>(
    item: z.ZodType<T>,
    route: Route,
    params: Readonly<Record<string, string>> = {},
    query: Readonly<Record<string, string>> = {},
  ) => ask(z.array(item), route, { params, query });
  const onlyDeleted = (deleted: boolean): Record<string, string> => (deleted ? { deleted: 'true' } : {});
  const add = async (route: Route, params: Readonly<Record<string, string>>, email: string, role?: Role) => {
    const body = { email, ...(role !== undefined && { role }) };
    const { data: member, status } = await askPatiently(Member, route, { params, body });
    return { member, added: status === 201 };
  };
  return { ask, askPatiently, list, add, onlyDeleted };
}
