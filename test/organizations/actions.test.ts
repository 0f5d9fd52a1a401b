/** What is drawn by chance reaches every operation: a storm that never asks for one says nothing about it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { organizationRoutes } from '../../shared/organization/routes.js';
import { actionOf, type Cast, drawn } from './actions.js';
import { emptyWorld, play } from './model.js';
import { operations, operator } from './organizations-server.js';
import { opening } from './storm.js';

describe('what is drawn for organizations', () => {
  /** Stories as long as those of a storm, on the model alone, and always the same. */
  const succeeded = new Set<string>();
  before(() => {
    const stories = fc.array(drawn(), { minLength: 100, maxLength: 100 });
    const rules = { operators: new Set([operator]), anyoneCreates: false };
    for (const story of fc.sample(stories, { seed: 1, numRuns: 50 })) {
      const world = emptyWorld();
      const cast: Cast = { organizations: ['first', 'second'], teams: ['inside', 'alone'] };
      for (const action of opening) play(world, action, rules);
      for (const [i, each] of story.entries()) {
        const action = actionOf(cast, String(i), each);
        if (play(world, action, rules).status < 300) succeeded.add(action.kind);
      }
    }
  });

  const changing = operations.filter((operation) => organizationRoutes[operation].method !== 'GET');
  for (const operation of changing) {
    it(`is ${operation} too, and it is let through`, () => {
      expect(succeeded).to.include(operation);
    });
  }
});
