/** Bad requests as a table, each with Google's own code and reason: one test a row. */
import { expect } from 'chai';
import type { SimulatedApi } from '../../local/cloud/kernel/api.js';
import { project, type ReadyCloud, stranger } from './ready-cloud.js';

export interface Refusal {
  readonly name: string;
  readonly api: SimulatedApi;
  /** `POST /v3/projects`. */
  readonly line: string;
  readonly body?: unknown;
  /** Instead of `body`: what is no JSON. */
  readonly text?: string;
  readonly as?: string;
  /** `undefined` under the name sends no token. */
  readonly token?: string | undefined;
  readonly code: number;
  /** `errors[0].reason` where the API has errors[], else the canonical status. */
  readonly reason: string;
  readonly says?: RegExp;
}

/** The code and reason of many rows. */
export const invalid = [400, 'INVALID_ARGUMENT'] as const;
export const denied = [403, 'PERMISSION_DENIED'] as const;

/** Makes rows of one API. The last argument is what the message says, or all that makes the row special. */
export const refusalsOf =
  (api: SimulatedApi) =>
  (
    name: string,
    line: string,
    body: unknown,
    code: number,
    reason: string,
    more: RegExp | Partial<Refusal> = {},
  ): Refusal => ({ name, api, line, body, code, reason, ...(more instanceof RegExp ? { says: more } : more) });

export function itRefuses(cloud: () => ReadyCloud, refusals: readonly Refusal[]): void {
  for (const { name, api, line, body, code, reason, says, ...how } of refusals) {
    it(`refuses ${name}: ${code} ${reason}`, async () => {
      const reply = await cloud().call(api, line, body, how);
      expect(`${reply.status} ${reply.reason}`, reply.message).to.equal(`${code} ${reason}`);
      if (says !== undefined) expect(reply.message).to.match(says);
    });
  }
}

/** The bad requests that every API refuses alike, made from one good one. */
export function commonRefusals(api: SimulatedApi, good: string, body: object): Refusal[] {
  const hasErrors = api === 'compute' || api === 'dns';
  const because = (code: number, status: string, legacy: string): readonly [number, string] => [
    code,
    hasErrors ? legacy : status,
  ];
  const unknownCaller = because(401, 'UNAUTHENTICATED', 'authError');
  const noToken = because(401, 'UNAUTHENTICATED', 'required');
  const forbidden = because(403, 'PERMISSION_DENIED', 'forbidden');
  const disabled = because(403, 'PERMISSION_DENIED', 'accessNotConfigured');
  const bad = because(400, 'INVALID_ARGUMENT', 'badRequest');
  const line = good.replaceAll('/P/', `/${project}/`);
  const elsewhere = (other: string): string => line.replaceAll(`/${project}/`, `/${other}/`);
  const refused = refusalsOf(api);
  return [
    refused('a call without a token', line, body, ...noToken, { token: undefined }),
    refused('a token that is not ours', line, body, ...unknownCaller, { token: 'ya29.x.y' }),
    refused('a stranger', line, body, ...forbidden, { as: stranger }),
    refused('a project that is not there', elsewhere('no-such-project'), body, ...forbidden),
    refused('a project number that is not there', elsewhere('999999999999'), body, ...forbidden),
    refused(
      'a project without the API',
      elsewhere('bare-project'),
      body,
      ...disabled,
      /has not been used in project \d+ before or it is disabled/,
    ),
    refused('a body that is no JSON', line, undefined, ...bad, { text: '{"name":' }),
    refused('a body that is a list', line, undefined, ...bad, { text: '[]' }),
    refused('a field that there is not', line, { ...body, colour: 'red' }, ...bad, /Unknown name "colour"/),
    refused(
      'a query parameter that there is not',
      `${line}${line.includes('?') ? '&' : '?'}colour=red`,
      body,
      ...bad,
      /colour/,
    ),
  ];
}
