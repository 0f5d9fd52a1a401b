import { expect } from 'chai';
import { liftCounters, liftOwnerCount, liftTeamCount } from '../../functions/engine/record/counts.js';
import {
  liftBootstrap,
  liftEvent,
  liftFile,
  liftLease,
  liftName,
  sshSourceRangesOf,
} from '../../functions/engine/record/documents.js';
import type { Data } from '../../functions/store/store.js';
import { StepMessage } from '../../shared/bootstrap/message.js';

/** As each release wrote them. A fixture is never changed: what it says is in somebody's database. */
const fixtures: Record<string, { lift: (data: Data) => unknown; versions: Record<number, Data> }> = {
  bootstrap: {
    lift: liftBootstrap,
    versions: {
      1: {
        schema: 1,
        name: 'My project',
        projectId: 'my-project-a1b2c3d4',
        owner: 'alice@example.com',
        ownerMember: 'user:alice@example.com',
        state: 'failed',
        generation: 2,
        options: { projectName: 'My project', region: 'europe-west4', multiDc: false },
        given: { projectName: 'My project' },
        sshPublicKey: 'ssh-ed25519 AAAA alice',
        callerSecret: '1',
        base: { dc1: { config: 'base-config-dc1' } },
        createdAt: '2026-11-20T20:00:00.000Z',
        deadlineAt: '2026-11-20T22:00:00.000Z',
        endedAt: '2026-11-20T20:10:00.000Z',
        warnings: ['--registry-user is missing'],
        problem: { code: 'cloud-quota', detail: 'Quota CPUS exceeded.', advice: 'Ask for more.' },
        instances: {
          project: {
            state: 'done',
            attempt: 1,
            startedAt: '2026-11-20T20:00:01.000Z',
            endedAt: '2026-11-20T20:00:12.000Z',
            note: 'project my-project-a1b2c3d4',
            output: { projectId: 'my-project-a1b2c3d4', projectNumber: '123456789012' },
          },
          quota: { state: 'failed', attempt: 1, problem: { code: 'cloud-quota', detail: 'Quota CPUS exceeded.' } },
          'vm:k0s-1': { state: 'waiting', attempt: 0 },
        },
        events: 5,
        expireAt: '2027-02-18T22:00:00.000Z',
      },
    },
  },
  lease: {
    lift: liftLease,
    versions: {
      1: {
        schema: 1,
        bootstrapId: 'b1',
        instance: 'vm:k0s-1',
        lane: 'cloud',
        generation: 1,
        state: 'running',
        number: 3,
        holder: '2f1d9f0e-4d0c-4a5e-9a57-6d6b1d3c3f10',
        expiresAt: '2026-11-20T20:00:30.000Z',
        dueAt: '2026-11-20T20:00:30.000Z',
        startedAt: '2026-11-20T20:00:00.000Z',
        failures: { transient: 2 },
        propagationSeconds: 0,
        deaths: 1,
        note: 'waits for the operation',
        retry: 'Google Cloud did not answer',
        cancel: true,
      },
    },
  },
  event: {
    lift: liftEvent,
    versions: {
      1: {
        schema: 1,
        bootstrapId: 'b1',
        n: 2,
        event: {
          schema: 1,
          type: 'instance',
          at: '2026-11-20T20:00:12.000Z',
          instance: 'project',
          state: 'done',
          seconds: 11.2,
          note: 'project my-project-a1b2c3d4',
        },
        calls: [{ at: '2026-11-20T20:00:02.000Z', text: 'GET https://cloudresourcemanager.googleapis.com/… → 200' }],
        expireAt: '2027-02-18T22:00:00.000Z',
      },
    },
  },
  name: { lift: liftName, versions: { 1: { schema: 1, bootstrapId: 'b1', owner: 'alice@example.com' } } },
  counters: { lift: liftCounters, versions: { 1: { schema: 1, inAll: 2, spend: { '2026-11': 5 }, changes: 3 } } },
  'count of an owner': {
    lift: liftOwnerCount,
    versions: { 1: { schema: 1, owner: 'alice@example.com', living: 2, spend: { '2026-11': 5 } } },
  },
  'count of a team': {
    lift: liftTeamCount,
    versions: {
      1: { schema: 1, team: 1_571_417_718, spend: { '2026-11': 5 }, expireAt: '2026-12-01T00:00:00.000Z' },
    },
  },
  file: {
    lift: liftFile,
    versions: {
      1: {
        schema: 1,
        bootstrapId: 'b1',
        name: 'config-dc1',
        content: 'version: 1\n',
        writtenAt: '2026-11-20T20:00:00.000Z',
      },
    },
  },
  message: {
    lift: (data) => StepMessage.parse(data),
    versions: { 1: { schema: 1, bootstrapId: 'b1', instance: 'vm:k0s-1', generation: 1 } },
  },
};

describe('stored documents', () => {
  for (const [kind, { lift, versions }] of Object.entries(fixtures)) {
    for (const [schema, data] of Object.entries(versions)) {
      it(`reads a ${kind} of schema ${schema}, losing nothing`, () => {
        expect(lift(data)).to.deep.equal(data);
      });
    }

    it(`refuses a ${kind} of a newer release`, () => {
      expect(() => lift({ ...versions[1], schema: 99 })).to.throw();
    });
  }
});

describe('the ranges from which a jumpbox takes SSH', () => {
  const cases: readonly (readonly [string, readonly string[] | undefined, readonly string[], readonly string[]])[] = [
    ['are those of the deployment now', ['203.0.113.7/32'], ['198.51.100.0/24'], ['198.51.100.0/24']],
    [
      'are those that it began with, where the deployment names none any more',
      ['203.0.113.7/32'],
      [],
      ['203.0.113.7/32'],
    ],
    ['are everywhere where an earlier release began it, and the deployment names none', undefined, [], ['0.0.0.0/0']],
    ['are the named ones where an earlier release began it', undefined, ['198.51.100.0/24'], ['198.51.100.0/24']],
    ['are none where nobody said any', [], [], []],
  ];
  for (const [title, sshSourceRanges, now, expected] of cases) {
    it(title, () => {
      const record = sshSourceRanges === undefined ? {} : { sshSourceRanges: [...sshSourceRanges] };
      expect(sshSourceRangesOf(record, now)).to.deep.equal(expected);
    });
  }
});
