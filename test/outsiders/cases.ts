/** Tables of requests and what comes back: one test a row, in order, against one cloud. */
import { expect } from 'chai';
import type { SimulatedApi } from '../../local/cloud/kernel/api.js';
import type { ReadyCloud, Reply } from '../local-cloud/ready-cloud.js';

export interface Case {
  /** What is sent, as a noun. */
  readonly name: string;
  readonly api: SimulatedApi;
  /** `GET /v1/projects/P`; the ready project's name may be written as `P`. */
  readonly line: string;
  readonly body?: unknown;
  /** Instead of `body`: the text as it is sent. */
  readonly text?: string;
  /** Default 200. */
  readonly code?: number;
  readonly reason?: string;
  readonly says?: RegExp;
  /** Fields of the reply, which may hold more. */
  readonly has?: Readonly<Record<string, unknown>>;
  /** The whole reply. */
  readonly is?: unknown;
  readonly check?: (reply: Reply) => void;
}

export function itAnswers(cloud: () => ReadyCloud, cases: readonly Case[]): void {
  for (const each of cases) {
    it(`${each.name}: ${each.code ?? 200}`, async () => {
      const { api, line, body, text, code = 200 } = each;
      const reply = await cloud().call(api, line, body, text === undefined ? {} : { text });
      expect(reply.status, `${line}: ${reply.message}`).to.equal(code);
      if (each.reason !== undefined) expect(reply.reason).to.equal(each.reason);
      if (each.says !== undefined) expect(reply.message).to.match(each.says);
      if (each.has !== undefined) expect(reply.body).to.deep.include(each.has);
      if (each.is !== undefined) expect(reply.body).to.deep.equal(each.is);
      each.check?.(reply);
    });
  }
}
