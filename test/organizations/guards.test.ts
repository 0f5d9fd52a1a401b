/**
 * What becomes of the rules without one of their guards. Of two calls that must not meet the second is made, from beginning to
 * end, at the worst moment of the first: so it breaks each time, or never.
 */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { checkAtRest } from './at-rest.js';
import { blindTo, blindToRemovals, withoutEvents, withoutTransactions } from './guards.js';
import type { Action } from './model.js';
import { createOrganizationsServer, operator } from './organizations-server.js';
import { createPlayer } from './play.js';
import { createMemoryReader } from './snapshot.js';
import { opening } from './storm.js';

const by = operator;
const dave = 'dave@example.com';
const inOrganization: Action = {
  kind: 'addOrganizationMember',
  by,
  organization: 'first',
  email: dave,
  role: 'member',
};
const addTo = (team: string, email = dave): Action => ({ kind: 'addTeamMember', by, team, email, role: 'admin' });
const remove: Action = { kind: 'removeOrganizationMember', by, organization: 'first', email: dave, force: true };
const demote = (email: string): Action => ({
  kind: 'setOrganizationMemberRole',
  by,
  organization: 'first',
  email,
  role: 'member',
});
const migrate: Action = { kind: 'migrateTeam', by, team: 'alone', organization: 'first', force: false };

interface Scene {
  readonly before?: readonly Action[];
  readonly first: Action;
  /** Between what the first reads and what it writes; or when it has found the member's teams. */
  readonly at?: 'write' | 'query';
  readonly meanwhile: Action;
}

const scenes = {
  'the last two admins give it up': { first: demote('alice@example.com'), meanwhile: demote('bob@example.com') },
  'who is added to a team leaves its organization': {
    before: [inOrganization],
    first: addTo('inside'),
    meanwhile: remove,
  },
  'who leaves an organization is added to a team of it': {
    before: [inOrganization],
    first: remove,
    at: 'query',
    meanwhile: addTo('inside'),
  },
  'a team that a stranger is added to goes into an organization': { first: addTo('alone'), meanwhile: migrate },
  'two are added to a team': { first: addTo('alone'), meanwhile: addTo('alone', 'carol@example.com') },
} as const satisfies Readonly<Record<string, Scene>>;

/** As the store is for the first call: the other is made at that moment, once. */
function interrupted(store: Store, at: 'write' | 'query', work: () => Promise<void>): Store {
  let done = false;
  const moment = async (): Promise<void> => {
    if (done) return;
    done = true;
    await work();
  };
  return {
    ...store,
    async query(query) {
      const found = await store.query(query);
      if (at === 'query' && query.collection === 'teamMembers') await moment();
      return found;
    },
    transaction: (body) =>
      store.transaction(async (transaction) => {
        let writes = 0;
        const result = await body({
          ...transaction,
          write(...more) {
            writes += more.length;
            transaction.write(...more);
          },
        });
        if (at === 'write' && writes > 0) await moment();
        return result;
      }),
  };
}

describe('organizations, when two calls meet', () => {
  let issuer: Issuer;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer?.close());

  /** What is wrong in the end, in words. */
  async function play(
    { before = [], first, at = 'write', meanwhile }: Scene,
    change: (store: Store) => Store,
  ): Promise<string | undefined> {
    const memory = createMemoryStore();
    const changed = change(memory);
    let store = changed;
    const server = await createOrganizationsServer(issuer, {
      store: {
        ...changed,
        query: (query) => store.query(query),
        transaction: (body) => store.transaction(body),
      },
    });
    // Another process: within one, changes of a team take turns.
    const other = await createOrganizationsServer(issuer, { store: { ...changed } });
    try {
      const ids = new Map<string, string>();
      const player = createPlayer(server, ids);
      for (const action of [...opening, ...before]) expect((await player.play(action)).status).to.be.below(300);
      let met = false;
      store = interrupted(changed, at, async () => {
        met = true;
        await createPlayer(other, ids).play(meanwhile);
      });
      await player.play(first);
      expect(met, 'they met').to.equal(true);
      return await checkAtRest(createMemoryReader(memory), 'both').then(
        () => undefined,
        (error: Error) => error.message,
      );
    } finally {
      server.close();
      other.close();
    }
  }

  for (const [title, scene] of Object.entries(scenes)) {
    it(`keep their rules: ${title}`, async () => {
      expect(await play(scene, (store) => store)).to.equal(undefined);
    });
  }

  const outside = /but not in its organization/;
  const guards: readonly (readonly [
    what: string,
    without: (store: Store) => Store,
    breaks: Partial<Record<keyof typeof scenes, RegExp>>,
  ])[] = [
    [
      'transactions',
      withoutTransactions,
      {
        'the last two admins give it up': /no admin/,
        'who is added to a team leaves its organization': outside,
        'a team that a stranger is added to goes into an organization': outside,
        'two are added to a team': /has 3 admins and says 2/,
      },
    ],
    [
      'this: that transactions notice changed members of the organization',
      blindTo('organizationMembers'),
      {
        'the last two admins give it up': /no admin/,
        'who is added to a team leaves its organization': outside,
      },
    ],
    [
      'this: that transactions notice changed teams',
      blindTo('teams'),
      {
        'a team that a stranger is added to goes into an organization': outside,
        'two are added to a team': /has 3 admins and says 2/,
      },
    ],
    [
      'this: that who is being removed is taken for gone',
      blindToRemovals,
      { 'who leaves an organization is added to a team of it': outside },
    ],
    [
      'this: that events are written with what they tell',
      withoutEvents,
      { 'two are added to a team': /the events tell of/ },
    ],
  ];
  for (const [what, without, breaks] of guards) {
    it(`would break them without ${what}`, async () => {
      for (const [title, broken] of Object.entries(breaks)) {
        expect(await play(scenes[title as keyof typeof scenes], without), title).to.match(broken);
      }
    });
  }
});
