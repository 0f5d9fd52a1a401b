/** The list of what the simulated cloud answers, and why: it holds each method once, and few stay by exception. */
import { expect } from 'chai';
import { apiDefinitions } from '../../local/cloud/apis.js';
import type { ApiName } from '../../local/cloud/kernel/api.js';
import { type Reasons, whyServed } from '../../local/cloud/why-served.js';

const mostExceptions = 20;

function listed({ exceptions = {}, ...reasons }: Reasons): string[] {
  const named = Object.values(reasons).flatMap((methods: string) => methods.split(/\s+/));
  return [...named, ...Object.keys(exceptions)].sort();
}

describe('the reasons why a method is served', () => {
  it('name all methods that are served, once each', () => {
    const served = apiDefinitions.map(({ api, handlers }): [string, string[]] => [
      api,
      Object.keys(handlers)
        .map((id) => id.slice(id.indexOf('.') + 1))
        .sort(),
    ]);
    const reasons = (Object.keys(whyServed) as ApiName[]).map((api) => [api, listed(whyServed[api] ?? {})]);
    expect(Object.fromEntries(reasons)).to.deep.equal(Object.fromEntries(served));
  });

  it('are exceptions for few', () => {
    const exceptions = Object.values(whyServed).flatMap((reasons) => Object.keys(reasons.exceptions ?? {}));
    expect(exceptions).to.have.length.at.most(mostExceptions);
  });
});
