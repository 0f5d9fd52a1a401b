import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { apiDefinitions } from '../../local/cloud/apis.js';
import type { SimulatedApi } from '../../local/cloud/kernel/api.js';
import { surfaceOf } from '../../local/cloud/kernel/surface.js';
import { furnish } from '../local-cloud/furnished.js';
import { type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';
import { breaksOf } from './breaks.js';
import { smallest } from './smallest.js';

interface Count {
  /** Smallest requests, one a method. */
  readonly methods: number;
  /** Those of them that are answered well. */
  readonly good: number;
  /** Broken requests, each refused. */
  readonly broken: number;
}

const counts = JSON.parse(readFileSync('test/outsiders/counts.json', 'utf8')) as {
  readonly generated: Readonly<Record<string, Count>>;
};

/** What ends a project, or takes from the caller what the rest needs, comes last. */
const isLast = (id: string): boolean => /\.(delete|setIamPolicy|disable|move)$/.test(id);

/** From the discovery documents alone: what the simulation knows has no say in what is asked of it. */
describe('requests made from the discovery documents', () => {
  for (const { api, handlers } of apiDefinitions) {
    it(`of ${api} are answered or refused as the document says`, async function () {
      this.timeout(120_000);
      const surface = surfaceOf(api);
      const host = surface.host.replace('.googleapis.com', '') as SimulatedApi;
      const methods = [...surface.methods.values()]
        .filter(({ id }) => handlers[id] !== undefined)
        .sort((a, b) => Number(isLast(a.id)) - Number(isLast(b.id)));
      const cloud: ReadyCloud = await readyCloud();
      try {
        await furnish(cloud);
        const seen = { methods: 0, good: 0, broken: 0 };
        for (const method of methods) {
          const request = smallest(surface, method);
          for (const { name, line, body } of breaksOf(surface, method, request)) {
            const reply = await cloud.call(host, line, body);
            expect(reply.status, `${method.id} with ${name}: ${line} ${JSON.stringify(body)}`).to.equal(400);
            seen.broken += 1;
          }
          const { status, message } = await cloud.call(host, request.line, request.body);
          expect(status === 501 || status < 500, `${method.id}: ${status} ${message}`).to.equal(true);
          seen.methods += 1;
          if (status < 300) seen.good += 1;
        }
        const least = counts.generated[api] ?? { methods: 0, good: 0, broken: 0 };
        for (const [kind, count] of Object.entries(seen)) {
          const told = `${api} had ${least[kind as keyof Count]} ${kind}; the counts may only rise: ${JSON.stringify(seen)}`;
          expect(count, told).to.be.at.least(least[kind as keyof Count]);
        }
      } finally {
        await cloud.close();
      }
    });
  }
});
