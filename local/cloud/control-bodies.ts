/** The bodies that the control paths take. Whatever they do not know is refused, with the name of the field. */
import { z } from 'zod';
import { apiDefinitions } from './apis.js';
import type { CallFault, Faults, QuotaFault, StockoutFault } from './kernel/faults.js';
import { surfaceOf } from './kernel/surface.js';

/** A body that is refused. */
export class BadControl extends Error {
  override readonly name = 'BadControl';
}

/** A method of a simulated API, or a prefix of some. */
function isMethod(method: string): boolean {
  const prefix = method.endsWith('*') ? method.slice(0, -1) : undefined;
  return apiDefinitions.some(({ api }) => {
    const { methods } = surfaceOf(api);
    return prefix === undefined ? methods.has(method) : [...methods.keys()].some((id) => id.startsWith(prefix));
  });
}

const name = z.string().min(1);
const count = z.int().min(0);

const callFault = z.strictObject({
  method: name.refine(isMethod, { error: 'No simulated API has such a method.' }),
  nth: z.int().min(1).optional(),
  times: count.optional(),
  where: z.record(z.string(), z.string()).optional(),
  when: z.enum(['before', 'after']).optional(),
  kind: z.enum(['error', 'rate', 'unavailable', 'drop', 'slow']).optional(),
  code: z.int().min(400).max(599).optional(),
  status: name.optional(),
  message: z.string().optional(),
  reason: z.string().optional(),
  delaySeconds: z.number().min(0).optional(),
});

const stockoutFault = z.strictObject({
  name,
  provisioning: z.enum(['SPOT', 'PREEMPTIBLE', 'STANDARD']).optional(),
  project: name.optional(),
  zone: name.optional(),
});

const quotaFault = z.strictObject({
  metric: name,
  limit: z.number().min(0),
  region: name.optional(),
  project: name.optional(),
});

const postedFault = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('call'), fault: callFault }),
  z.strictObject({ type: z.literal('stockout'), fault: stockoutFault }),
  z.strictObject({ type: z.literal('quota'), fault: quotaFault }),
]);

const tokenRequest = z.strictObject({
  email: z.email(),
  audience: name.optional(),
  hd: name.optional(),
  lifeSeconds: z.number().positive().optional(),
});

export type TokenRequest = z.infer<typeof tokenRequest>;

function read<T>(schema: z.ZodType<T>, body: string): T {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new BadControl('The body is not JSON.');
  }
  const { error, data } = schema.safeParse(json);
  if (error === undefined) return data;
  const [issue] = error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  const field = [...(issue?.path ?? []), ...unknown.slice(0, 1)].join('.');
  throw new BadControl(`${field === '' ? 'The body' : field}: ${issue?.message ?? 'It is not valid.'}`);
}

export const readTokenRequest = (body: string): TokenRequest => read(tokenRequest, body);

/** Sets the fault in a body, and returns its id. The body is `{type: "call" | "stockout" | "quota", fault: {…}}`. */
export function setFault(faults: Faults, body: string): string {
  const posted = read(postedFault, body);
  switch (posted.type) {
    case 'call':
      return faults.add(posted.fault as CallFault);
    case 'stockout':
      return faults.stockout(posted.fault as StockoutFault);
    case 'quota':
      return faults.quota(posted.fault as QuotaFault);
  }
}

/** A whole number in the query. */
export function numberIn(query: URLSearchParams, field: string, fallback: number): number {
  const text = query.get(field);
  if (text === null) return fallback;
  if (!/^\d+$/.test(text)) throw new BadControl(`${field}: It must be a whole number.`);
  return Number(text);
}

/** Refuses query parameters that a path does not know. */
export function onlyKnown(query: URLSearchParams, known: readonly string[]): void {
  const other = [...query.keys()].find((key) => !known.includes(key));
  if (other !== undefined) throw new BadControl(`${other}: There is no such parameter.`);
}
