/** What people see before a new bootstrap starts: size, price, time, end, plan, and all that the preflight does not find fine. */
import { expect } from 'chai';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { bootstrap, createSandbox, five, type Sandbox } from './run-cli.js';
import { createService, json, makeView, refuse, type Service } from './service.js';

const hash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const beginning = {
  vms: 8,
  cost: makeView().cost,
  forecast: { p50Seconds: 480, p90Seconds: 720, learntFrom: 3 },
  removedAt: '2026-01-31T14:00:00.000Z',
  hash,
};
const findings: readonly PreflightFinding[] = [
  { code: 'region', title: 'Region', state: 'ok', what: 'europe-west4' },
  {
    code: 'dns-delegation',
    title: 'DNS delegation',
    state: 'warning',
    what: 'nobody delegates demo.example.com',
    why: 'Nobody would find its names.',
    mend: 'Delegate it.',
  },
  { code: 'quota', title: 'Quotas', state: 'unknown', what: 'not known before the project is made', why: 'It is new.' },
];

describe('before a bootstrap starts', function () {
  this.timeout(60_000);
  let service: Service;
  let sandbox: Sandbox;
  beforeEach(async () => {
    service = await createService();
    sandbox = createSandbox(service.url);
    service.instead.set('POST /preflights', [(response) => json(response, 200, { go: true, findings, beginning })]);
  });
  afterEach(async () => {
    sandbox?.remove();
    await service?.close();
  });

  const begin = (...flags: string[]) => sandbox.run([...bootstrap, ...five, ...flags]);
  const asked = () => service.seen.flatMap(({ method, path }) => (method === 'POST' ? [path.replace(/\?.*/, '')] : []));
  const shown = /Before it starts:[\s\S]*VMs +8\n[\s\S]*Bootstrapping demo/;

  it('the team is asked for, too, so that nothing is shown of what it would refuse', async () => {
    await begin('--team', '42');
    const looked = service.seen.find(({ path }) => path === '/preflights');
    expect(looked?.body).to.include({ team: 42 });
  });

  it('a time that is learnt from one bootstrap is told once, not as two times that are the same', async () => {
    const once = { ...beginning, forecast: { p50Seconds: 480, p90Seconds: 480, learntFrom: 1 } };
    service.instead.set('POST /preflights', [
      (response) => json(response, 200, { go: true, findings, beginning: once }),
    ]);
    expect((await begin()).stderr).to.match(/Ready +in about 8m \(as the last one here took\)/);
  });

  it('one screen tells it, also in a pipe, and asks nothing', async () => {
    const { code, stderr } = await begin();
    expect(code, stderr).to.equal(0);
    expect(stderr)
      .to.match(shown)
      .and.match(/Cost +about 1\.23 USD an hour, 2\.47 USD until it is removed/)
      .and.match(/Ready +in about 8m, nine in ten within 12m \(as the last 3 here took\)/)
      .and.match(/Removed +at 2026-01-31/)
      .and.match(new RegExp(`Plan +${hash}`))
      .and.match(/Warnings \(1\)\n.*dns-delegation.*\n +Nobody would find its names\.\n +Delegate it\./)
      .and.match(/Not known yet \(1\)\n.*quota/)
      .and.not.include('europe-west4\n');
    expect(stderr.match(/VMs +\d/g)).to.have.length(1);
    expect(asked().slice(0, 2)).to.deep.equal(['/preflights', '/bootstraps']);
  });

  it('what was shown is begun without another round, where the service knows that', async () => {
    const begun = () => service.seen.find(({ method, path }) => method === 'POST' && path === '/bootstraps')?.body;
    await begin();
    expect(begun()).to.be.an('object').and.not.have.property('seen');
    service.seen.length = 0;
    service.standing = false;
    const seen = '5f1d0c9b7a6e4d3c2b1a0f9e8d7c6b5a';
    service.instead.set('POST /preflights', [
      (response) => json(response, 200, { go: true, findings, beginning, seen }),
    ]);
    await begin();
    expect(begun()).to.include({ seen });
  });

  it('it is one event with --json, before all others', async () => {
    const { stdout, stderr } = await begin('--json');
    const [first] = stdout.split('\n').map((line) => (line === '' ? {} : (JSON.parse(line) as object)));
    expect(first).to.deep.equal({ type: 'beginning', ...beginning, findings: findings.slice(1) });
    expect(stderr).not.to.include('Before it starts');
  });

  it('it is there before the beginning is accepted, and a warning is told once', async () => {
    const warned = 'nobody delegates demo.example.com';
    service.instead.set('POST /bootstraps', [
      (response) =>
        json(response, 201, {
          bootstrap: { ...makeView({ warnings: [warned] }), state: 'running' },
          created: true,
          changes: [],
          warnings: [warned],
        }),
    ]);
    const { stderr } = await begin();
    expect(stderr.split('Bootstrapping demo')[0]).to.include(warned);
    expect(stderr.split(warned)).to.have.length(2);
    service.standing = false;
    service.instead.set('POST /preflights', [(response) => json(response, 200, { go: true, findings, beginning })]);
    service.instead.set('POST /bootstraps', [refuse('too-many', 'You have three already.')]);
    const refused = await begin();
    expect(refused.code).to.equal(5);
    expect(refused.stderr).to.match(/Before it starts:[\s\S]*You have three already/);
  });

  it('nothing is shown of what is refused, of another plan, or of what stands', async () => {
    const stop: PreflightFinding = {
      code: 'region',
      title: 'Region',
      state: 'stop',
      what: 'no such region',
      why: 'All stands there.',
      problem: 'bad-input',
    };
    service.instead.set('POST /preflights', [(response) => json(response, 200, { go: false, findings: [stop] })]);
    service.instead.set('POST /bootstraps', [refuse('bad-input', '--region names mars')]);
    const refused = await begin();
    expect([refused.code, refused.stderr.includes('Before it starts')]).to.deep.equal([2, false]);
    expect(refused.stderr).to.include('--region names mars');
    service.standing = true;
    service.seen.length = 0;
    const resumed = await begin();
    expect(resumed.stderr).to.include('Going on with demo').and.not.include('Before it starts');
    expect(asked()).not.to.include('/preflights');
  });

  it('its minutes go on in the live view, as half took them and as nine in ten did', async () => {
    const running = { ...makeView(), state: 'running', forecast: beginning.forecast };
    service.instead.set('POST /bootstraps', [
      (response) => json(response, 201, { bootstrap: running, created: true, changes: [], warnings: [] }),
    ]);
    service.stream = 'hold';
    const started = sandbox.startOnTerminal([...bootstrap, ...five], { rows: 30, columns: 120 });
    await started.saw(/about 8m left, nine in ten within 12m/);
    started.interrupt();
    expect((await started.ended).code).to.equal(130);
  });

  it('a service of an earlier release begins it all the same, and the price is told then', async () => {
    service.instead.set('POST /preflights', [refuse('not-found', 'Nothing is served at this path.')]);
    const { code, stderr } = await begin();
    expect(code, stderr).to.equal(0);
    expect(stderr).to.match(/Bootstrapping demo[\s\S]*Cost +about 1\.23 USD an hour/);
  });
});
