import type { ServerResponse } from 'node:http';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BootstrapEvent } from '../../shared/bootstrap/event.js';
import { bootstrap, five, type Sandbox } from './run-cli.js';
import { endedEvent, json, makeView, progressEvent, refuse, type Service, sse, stateEvent } from './service.js';
import { useService } from './use-service.js';

const events = 'GET /bootstraps/b-one/events';
const stream = (response: ServerResponse, text: string) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text);
const end = (reason: 'ended' | 'time') => ({ schema: 1, type: 'end', reason, state: 'succeeded' });

describe('following a bootstrap', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });
  const command = [...bootstrap, ...five, '--write-config=false'];
  const cursors = () =>
    service.seen.filter(({ path }) => path.endsWith('/events')).map(({ headers }) => headers['last-event-id']);

  it('comes back with its cursor when the stream breaks, ends for time, or is not there, and tells nothing twice', async () => {
    service.instead.set(events, [
      (response) => {
        stream(response, sse(stateEvent('running'), 1));
        setTimeout(() => response.destroy(), 50);
      },
      refuse('unavailable', 'Starting.'),
      (response) => {
        response.writeHead(502, { 'content-type': 'text/html', 'retry-after': '0.05' }).end('<h1>Bad gateway</h1>');
      },
      (response) => {
        stream(response, ': still here\n\n');
        // A character and an event cut in two.
        const bytes = Buffer.from(sse(endedEvent('project', 1, 'fertig – gemacht'), 2));
        const middle = bytes.indexOf(0xe2) + 1;
        response.write(bytes.subarray(0, middle));
        setTimeout(() => response.end(Buffer.concat([bytes.subarray(middle), Buffer.from(sse(end('time')))])), 50);
      },
    ]);
    service.events = [
      stateEvent('running'),
      endedEvent('project', 1, 'fertig – gemacht'),
      endedEvent('vm:jumpbox', 2),
      stateEvent('succeeded'),
    ];
    const { code, stderr } = await sandbox.run([...command, '--verbose']);
    expect(code, stderr).to.equal(0);
    expect(cursors()).to.deep.equal([undefined, '1', '1', '1', '2']);
    expect(stderr.match(/✓/g)).to.have.lengthOf(2);
    expect(stderr).to.include('fertig – gemacht');
  });

  it('passes over what a newer service says', async () => {
    service.instead.set(events, [
      (response) => {
        stream(
          response,
          `id: 1\nevent: news\ndata: {"type":"news"}\n\ndata: no json\n\n${sse(stateEvent('running'), 2)}`,
        );
        response.end(sse(endedEvent('project', 1), 3) + sse(end('ended')));
      },
    ]);
    const { code, stderr } = await sandbox.run(command);
    expect([code, stderr.match(/✓/g)?.length]).to.deep.equal([0, 1]);
  });

  it('tells of the current generation alone', async () => {
    service.view = makeView({ generation: 2 });
    service.events = [
      stateEvent('running', 1),
      endedEvent('project', 77),
      stateEvent('failed', 1),
      stateEvent('running', 2),
      endedEvent('vm:jumpbox', 5),
      stateEvent('succeeded', 2),
    ];
    const { stderr } = await sandbox.run([...command, '--timer']);
    expect(stderr).to.include('✓ VM jumpbox (5s)').and.not.include('1m 17s');
    const { stdout } = await sandbox.run([...command, '--json']);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type),
    ).to.deep.equal(['state', 'instance', 'state', 'result']);
  });

  it('says in short why something is tried again, once a reason; the whole of it with --verbose', async () => {
    const whole =
      'Could not read the region x: the API is not usable yet (Compute Engine API has not been used in project 1 before. Enable it by visiting https://console.example.com).';
    service.events = [
      stateEvent('running'),
      progressEvent('project', 'waits', whole),
      { ...progressEvent('project', 'waits', whole), attempt: 2 } as BootstrapEvent,
      progressEvent('project', 'waits', 'Google Cloud asks for fewer calls.'),
      stateEvent('succeeded'),
    ];
    const { stderr } = await sandbox.run(command);
    expect(stderr.match(/tries again/g)).to.have.lengthOf(2);
    expect(stderr)
      .to.include('↻ Cloud project: tries again: the API is not usable yet\n')
      .and.include('↻ Cloud project: tries again: Google Cloud asks for fewer calls\n');
    const verbose = await sandbox.run([...command, '--verbose']);
    expect(verbose.stderr.split(`tries again: ${whole}`)).to.have.lengthOf(3);
  });

  it('counts from the beginning of the run, whenever one begins to follow it', async () => {
    const begun = Date.now() - 600_000;
    const after = (seconds: number) => new Date(begun + seconds * 1000).toISOString();
    const at = (event: BootstrapEvent, seconds: number) => ({ ...event, at: after(seconds) }) as BootstrapEvent;
    service.standing = true;
    service.view = makeView({ generation: 2 });
    service.events = [
      at(stateEvent('running', 1), -5000),
      at(stateEvent('running', 2), 0),
      at(endedEvent('project', 61), 62),
      at(stateEvent('succeeded', 2), 63),
    ];
    const { stderr } = await sandbox.run([...bootstrap, 'status', 'demo', '--follow']);
    expect(stderr).to.include('[1m 2s] ✓ Cloud project').and.not.include('[0s]');
  });

  it('tells in a pipe what is under way when nothing else is told for a while', async () => {
    const [project, jumpbox] = makeView().instances.map((instance) => ({ ...instance, state: 'waiting' as const }));
    const instances = [project, jumpbox, { ...project, id: 'network', title: 'Network' }] as BootstrapView['instances'];
    service.view = makeView({ state: 'running', instances });
    const began = { ...progressEvent('project', 'waits'), at: new Date(Date.now() - 50_000).toISOString() };
    const others = [progressEvent('vm:jumpbox', 'waits'), endedEvent('network', 1)];
    service.events = [stateEvent('running'), began as BootstrapEvent, ...others];
    service.stream = 'hold';
    const { now } = Date;
    const started = sandbox.start(command);
    try {
      await started.saw(/✓ Network/);
      expect(started.text()).to.not.include('still: ');
      Date.now = () => now() + 10_000;
      await started.saw(/still: /);
    } finally {
      Date.now = now;
      started.interrupt();
    }
    const { stderr } = await started.ended;
    expect(stderr).to.match(/^\[.*\] still: Cloud project, 6\d s, and 1 more$/m);
  });

  it('cannot be made to move the cursor by what others wrote', async () => {
    service.events = [stateEvent('running'), endedEvent('project', 1, 'a\u001b[2Jb\rc\nd'), stateEvent('succeeded')];
    const { stderr } = await sandbox.run(command);
    expect(stderr).to.include('ab c d').and.not.include('\u001b').and.not.include('\r');
  });

  it('stops when the caller may no longer look', async () => {
    service.instead.set(events, [refuse('unauthenticated', 'The token has expired.')]);
    const { code, stderr } = await sandbox.run(command);
    expect(code).to.equal(3);
    expect(stderr).to.include('The token has expired.').and.include('PLINTH_TOKEN');
  });

  describe('and Ctrl-C', () => {
    it('detaches with exit code 130: the bootstrap goes on, and how to follow or cancel it', async () => {
      service.stream = 'hold';
      service.events = service.events.slice(0, 3);
      const started = sandbox.spawn(command);
      await started.saw(/✓ Cloud project/);
      started.interrupt();
      const { code, stderr, stdout } = await started.ended;
      expect([code, stdout]).to.deep.equal([130, '']);
      expect(stderr).to.include('\nDetached: the bootstrap of demo goes on.\n');
      expect(stderr).to.include('plinth beta bootstrap-cloud status demo --follow\n');
      expect(stderr).to.include('plinth beta bootstrap-cloud cancel demo\n');
      expect(service.seen.some(({ path }) => path.endsWith('/cancel'))).to.equal(false);
    });

    it('says that the removal goes on, also while it waits for what is cancelled first', async () => {
      service.stream = 'hold';
      service.standing = true;
      const removal = {
        requestedAt: '2026-01-31T12:00:00.000Z',
        by: 'alice@example.com',
        why: 'asked',
        failures: 0,
      } as const;
      service.view = makeView({ state: 'cancelling', removal });
      service.events = service.events.slice(0, 3);
      const started = sandbox.start([...bootstrap, 'status', 'demo', '--follow']);
      await started.saw(/✓ Cloud project/);
      started.interrupt();
      const { code, stderr } = await started.ended;
      expect(code).to.equal(130);
      expect(stderr).to.include('\nDetached: the removal of demo goes on.\n').and.not.include('cancel demo');
    });

    it('does so while the service is away, and with --json in a last line', async () => {
      service.instead.set(
        events,
        Array.from({ length: 50 }, () => refuse('unavailable', 'Away.')),
      );
      const started = sandbox.start([...command, '--json']);
      await started.saw(/trying again/);
      started.interrupt();
      const { code, stdout } = await started.ended;
      expect(code).to.equal(130);
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).to.have.nested.property('problem.code', 'detached');
    });

    it('does so before the answer to the request has come', async () => {
      service.instead.set('POST /bootstraps', [() => undefined]);
      const started = sandbox.start([...command, '--verbose']);
      await started.saw(/GET \/bootstraps\?name=demo: 200/);
      while (!service.seen.some(({ method, path }) => `${method} ${path}` === 'POST /bootstraps'))
        await new Promise((resolve) => setTimeout(resolve, 20));
      started.interrupt();
      const { code, stderr } = await started.ended;
      expect(code).to.equal(130);
      expect(stderr).to.include('status demo --follow');
    });

    it('quotes a name for the shell', async () => {
      service.view = makeView({ name: "it's mine" });
      service.stream = 'hold';
      const started = sandbox.start([...bootstrap, ...five.slice(1), "--project-name=it's mine"]);
      await started.saw(/✓ VM jumpbox/);
      started.interrupt();
      expect((await started.ended).stderr).to.include(`status 'it'\\''s mine' --follow`);
    });
  });

  describe('on a terminal', () => {
    const many = Array.from({ length: 20 }, (_, i) => ({
      id: `vm:k0s-${i}`,
      step: 'vm',
      title: `VM k0s-${i} 虚拟机`,
      state: 'running' as const,
      attempt: 0,
    }));
    const waits = 'waits for something whose description does not fit on one line of a narrow terminal';

    it('shows a line for each that is running, a bar over all, and lets Ctrl-C detach', async () => {
      service.instead.set('POST /bootstraps', [
        (response) =>
          json(response, 201, {
            bootstrap: makeView({ state: 'running', instances: many }),
            created: true,
            changes: [],
            warnings: [],
          }),
      ]);
      service.events = [
        { ...stateEvent('running'), at: new Date().toISOString() } as BootstrapEvent,
        ...many.map(({ id }) => progressEvent(id, waits)),
        endedEvent('vm:k0s-0', 4),
      ];
      service.stream = 'hold';
      const started = sandbox.spawnOnTerminal(command, { rows: 12, columns: 60 });
      await started.saw(/1\/20 {2}\ds/);
      started.type('\u0003');
      const { code, stdout } = await started.ended;
      expect(code).to.equal(130);
      expect(stdout).to.include('goes on');
      expect(stdout).to.match(/⠋|⠙|⠹/).and.include('█').and.include('and 12 more');
      expect(stdout.lastIndexOf('\u001b[?25h'), 'the cursor is shown again').to.be.above(stdout.indexOf('\u001b[?25l'));
      expect(hasColour(stdout)).to.equal(true);
      const frames = stdout
        .split('\u001b[?2026h')
        .slice(1)
        .map((frame) => frame.split('\u001b[?2026l')[0] ?? '');
      for (const frame of frames) {
        const rows = stripVTControlCharacters(frame).split('\r\n');
        // Not the last column: what erases the rest of a line would erase that cell.
        for (const row of rows) expect(cellsOf(row), row).to.be.below(60);
        expect(rows.length, 'fits the terminal').to.be.at.most(13);
      }
    });

    it('tells how long it still takes as it is known by now', async () => {
      service.instead.set('POST /bootstraps', [
        (response) =>
          json(response, 201, {
            bootstrap: makeView({
              state: 'running',
              instances: many,
              forecast: { p50Seconds: 1200, p90Seconds: 1800, learntFrom: 3 },
            }),
            created: true,
            changes: [],
            warnings: [],
          }),
      ]);
      service.events = [stateEvent('running')];
      service.stream = 'hold';
      service.foreseen = { p50Seconds: 300, p90Seconds: 480, learntFrom: 3 };
      const started = sandbox.spawnOnTerminal(command, { rows: 30, columns: 100 });
      await started.saw(/about 5m left, nine in ten within 8m/);
      started.type('\u0003');
      expect((await started.ended).code).to.equal(130);
    });

    it('leaves the lines of what ended, and the result', async () => {
      const { code, stdout } = await sandbox.startOnTerminal([...command, '--timer'], { rows: 12, columns: 100 }).ended;
      expect(code).to.equal(0);
      const text = stripVTControlCharacters(stdout);
      expect(text)
        .to.match(/✓ VM jumpbox \(41s\)/)
        .and.match(/How long each took/)
        .and.match(/Project +demo/);
      expect(text).to.not.match(/\[0s\]/);
    });

    it('has no colour with NO_COLOR, and plain lines on a dumb terminal', async () => {
      const plain = await sandbox.startOnTerminal(command, { env: { NO_COLOR: '1' } }).ended;
      expect(hasColour(plain.stdout)).to.equal(false);
      const dumb = await sandbox.startOnTerminal(command, { env: { TERM: 'dumb' } }).ended;
      expect(dumb.stdout)
        .to.match(/\[\d+s\] ✓ VM jumpbox/)
        .and.not.include('\u001b');
    });
  });
});

const hasColour = (text: string): boolean =>
  ['[1m', '[2m', '[31m', '[32m', '[36m'].some((code) => text.includes(`\u001b${code}`));

const cellsOf = (row: string): number =>
  [...row].reduce((sum, character) => sum + (/\p{Script=Han}/u.test(character) ? 2 : character === '\r' ? 0 : 1), 0);
