/** A table of bad requests, each with Google's own code and reason: one test a row. */
import { expect } from 'chai';
import type { SimulatedApi } from '../../local/cloud/kernel/api.js';
import type { ReadyCloud } from './ready-cloud.js';

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

export function itRefuses(cloud: () => ReadyCloud, refusals: readonly Refusal[]): void {
  for (const { name, api, line, body, code, reason, says, ...how } of refusals) {
    it(`refuses ${name}: ${code} ${reason}`, async () => {
      const reply = await cloud().call(api, line, body, how);
      expect(`${reply.status} ${reply.reason}`, reply.message).to.equal(`${code} ${reason}`);
      if (says !== undefined) expect(reply.message).to.match(says);
    });
  }
}
