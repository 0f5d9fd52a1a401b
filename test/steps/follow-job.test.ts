/** What becomes of a job whose machine restarts between what is provided for it and its start. */
import { expect } from 'chai';
import type { Host, Job, JobLook } from '../../functions/remote/remote.js';
import { followJob } from '../../functions/steps/hosts/follow-job.js';

const none = Buffer.from('');

/** Jobs end at once: with 26 where nothing was provided, as curl does without its config. */
function machine() {
  const jobs = new Map<string, number>();
  const its = { provided: false, restarts: 0, starts: 0 };
  const job = (id: string): Job => ({
    id,
    async start() {
      its.starts += 1;
      if (its.restarts-- > 0) its.provided = false;
      jobs.set(id, its.provided ? 0 : 26);
    },
    async poll(): Promise<JobLook> {
      const exitCode = jobs.get(id);
      return exitCode === undefined
        ? { state: 'unknown', size: 0, bytes: none }
        : { state: 'exited', exitCode, size: 0, bytes: none };
    },
    claim: async (token) => token,
    kill: async () => undefined,
  });
  return { its, host: { name: 'jumpbox', job } as unknown as Host };
}

const call = {
  context: { clock: { now: () => new Date(0) } },
  bootstrap: { generation: 1 },
  secrets: { caller: async () => ({}) },
  log: { offset: async () => 0, append: async () => 0, lastLine: () => '', lastLines: () => '' },
} as never;

const follow = ({ its, host }: ReturnType<typeof machine>) =>
  followJob(call, host, {
    name: 'package',
    script: 'curl',
    what: 'Fetching the package',
    isThere: async () => false,
    before: async () => {
      its.provided = true;
    },
    exitCodeWithoutIt: 26,
  });

describe('a job that needs what a restart takes away', () => {
  it('begins again with it, if the machine restarts just before its start', async () => {
    const on = machine();
    on.its.restarts = 2;
    const outcome: unknown = await follow(on).catch((error: unknown) => error);
    expect(outcome).to.deep.equal({ kind: 'done' });
    expect(on.its.starts).to.equal(3);
  });

  it('fails in the end on a machine that restarts each time', async () => {
    const on = machine();
    on.its.restarts = 100;
    const problem: unknown = await follow(on).catch((error: unknown) => error);
    expect(problem).to.include({ code: 'host-failed' });
    expect(on.its.starts).to.equal(10);
  });
});
