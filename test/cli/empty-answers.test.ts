/** Answers that would say nothing, or something that is not so: each says what holds now. */
import { expect } from 'chai';
import pc from 'picocolors';
import { summary } from '../../cli/follow/summary.js';
import type { BootstrapView, InstanceState } from '../../shared/bootstrap/bootstrap.js';
import { bootstrap, five, type Sandbox } from './run-cli.js';
import { createService, json, makeView, type Service, stateEvent } from './service.js';
import { useService } from './use-service.js';

const hours = (count: number): string => new Date(Date.now() + count * 3_600_000).toISOString();
/** As the command line prints it. */
const printed = (time: string): string => time.replace('T', ' ').replace(/:\d\d\.\d+Z$/, ' UTC');

describe('an answer', function () {
  this.timeout(30_000);
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  }, 'standing');

  const plinth = (...args: string[]) => sandbox.run([...bootstrap, ...args]);
  /** What the service holds before a change, and what it answers to it. */
  const changed = async (
    verb: string,
    before: Partial<BootstrapView>,
    after: Partial<BootstrapView>,
    ...args: string[]
  ) => {
    service.view = makeView(before);
    service.instead.set(`POST /bootstraps/b-one/${verb}`, [
      (response) => json(response, 200, makeView({ ...before, ...after })),
    ]);
    const { code, stdout, stderr } = await plinth(verb, 'demo', ...args);
    expect(code, stderr).to.equal(0);
    return stdout;
  };
  const protection = { until: hours(48), reason: 'a look', by: 'alice@example.com' };

  describe('to extend', () => {
    it('says that nothing moved, where the new end would be earlier', async () => {
      const deadlineAt = hours(5);
      const said = await changed('extend', { deadlineAt }, {}, '--ttl', '10m');
      expect(said)
        .to.contain(`Nothing has changed: demo is removed at ${printed(deadlineAt)}`)
        .and.contain('10m');
    });

    it('announces no end before the one of the protection', async () => {
      const deadlineAt = hours(5);
      const said = await changed('extend', { deadlineAt: hours(1), protection }, { deadlineAt }, '--ttl', '5h');
      expect(said)
        .to.contain(`demo is removed at ${printed(protection.until)}`)
        .and.contain(printed(deadlineAt));
    });

    for (const ttl of ['1y', '9999d', '0h', 'soon']) {
      it(`names the form and the limit for --ttl ${ttl}, before the service is asked`, async () => {
        const { code, stderr } = await plinth('extend', 'demo', '--ttl', ttl);
        expect(code).to.equal(2);
        expect(stderr).to.contain('--ttl must be a duration such as 4h, 1h30m or 2d, and at most 366d');
        expect(service.seen).to.deep.equal([]);
      });
    }
  });

  it('to protect says so where the project lives longer anyway', async () => {
    const deadlineAt = hours(72);
    const args = ['--until', '2d', '--reason', 'a look'];
    const said = await changed('protect', { deadlineAt }, { protection }, ...args);
    expect(said)
      .to.contain(`demo is not removed before ${printed(deadlineAt)}`)
      .and.contain(printed(protection.until));
  });

  const instance = (id: string, state: InstanceState, more: object = {}) => ({
    id,
    step: id,
    title: `Part ${id}`,
    state,
    attempt: 0,
    ...more,
  });
  const removal = { requestedAt: hours(-1), by: 'alice@example.com', why: 'asked', failures: 0 } as const;
  const oldFailure = { problem: { code: 'cloud-quota', detail: 'No CPUs are left.' }, endedAt: hours(-2) };

  it('on a removed project lists no old failure, no warning, and no price that is still to come', async () => {
    const instances = [instance('project', 'gone'), instance('vm:jumpbox', 'failed', oldFailure)];
    service.view = makeView({ state: 'removed', removal, endedAt: hours(-0.5), instances, warnings: ['It is slow.'] });
    const { stdout } = await plinth('status', 'demo');
    expect(stdout).to.contain('about 0.50 USD in all');
    for (const over of ['Failed', 'No CPUs are left.', 'It is slow.', '2.47']) expect(stdout).not.to.contain(over);
  });

  it('on a removal lists its own failures alone, and no price beyond it', async () => {
    const refused = { problem: { code: 'cloud-permission', detail: 'The zone is closed.' }, endedAt: hours(-0.5) };
    const instances = [instance('records', 'failed', refused), instance('vm:jumpbox', 'failed', oldFailure)];
    const problem = { code: 'cloud-permission', detail: 'Part records failed: The zone is closed.' };
    service.view = makeView({ state: 'removal-failed', removal, endedAt: hours(-0.5), instances, problem });
    const { stdout } = await plinth('status', 'demo');
    expect(stdout).to.contain('Part records').and.contain('The zone is closed.');
    for (const over of ['No CPUs are left.', '2.47']) expect(stdout).not.to.contain(over);
  });

  it('while a project is removed counts all of its parts, those that go with the project among them', async () => {
    const parts = [
      instance('project', 'waiting'),
      instance('records', 'gone'),
      instance('vm:jumpbox', 'done'),
      instance('vm:k0s-1', 'failed', oldFailure),
      instance('caller-secret', 'waiting'),
    ];
    service.view = makeView({ state: 'removing', generation: 2, removal, instances: parts });
    const gone = (id: string) => ({ schema: 1, type: 'instance', at: hours(0), instance: id, state: 'gone' }) as const;
    service.events = [stateEvent('removing', 2), gone('project'), gone('caller-secret')];
    service.stream = 'hold';
    const started = sandbox.startOnTerminal([...bootstrap, 'status', 'demo', '--follow']);
    await started.saw(/5\/5 {2}\d/);
    started.interrupt();
    const { stdout } = await started.ended;
    expect(stdout).to.match(/1\/5 {2}\d/);
  });

  it('to --check says each blocker once', async () => {
    const errors = [
      { path: '--region', message: 'must be a region' },
      { path: '--base-domain', message: 'is required' },
    ];
    const what = '--region must be a region; --base-domain is required';
    const finding = { code: 'options', title: 'Flags', state: 'stop', what, errors };
    service.instead.set('POST /preflights', [(response) => json(response, 200, { go: false, findings: [finding] })]);
    const { code, stdout, stderr } = await plinth(
      ...five.slice(0, 2),
      '--check',
      '--region=nowhere',
      '--ssh-public-key-path=none.pub',
    );
    expect(code).to.equal(2);
    for (const once of ['--region', '--base-domain', 'none.pub']) {
      expect((stdout + stderr).split(once).length - 1, `${once} in\n${stdout}${stderr}`).to.equal(1);
    }
  });

  it('with a test user says that the address is the one of the jumpbox', () => {
    const testUser = {
      user: 'tester',
      token: 'x'.repeat(16),
      url: 'http://127.0.0.1:8080/api',
      path: '/tmp/user.json',
    };
    const style = pc.createColors(false);
    expect(summary(makeView(), style, { testUser })).to.match(/API, as the jumpbox reaches it +http:\/\/127/);
  });

  it('to SIGTERM is the one to Ctrl-C', async () => {
    const said = async (signal: 'SIGTERM' | 'SIGINT') => {
      const held = await createService();
      held.standing = true;
      held.stream = 'hold';
      held.view = makeView({ state: 'running' });
      const started = sandbox.spawn([...bootstrap, 'status', 'demo', '--follow'], { PLINTH_ENDPOINT: held.url });
      await started.saw(/✓ Cloud project/);
      started.child.kill(signal);
      const { code, stderr } = await started.ended;
      await held.close();
      return { code, last: stderr.slice(stderr.indexOf('Detached')) };
    };
    const asked = await said('SIGINT');
    expect(asked.last).to.contain('Detached: the bootstrap of demo goes on.');
    expect(await said('SIGTERM')).to.deep.equal(asked);
  });
});
