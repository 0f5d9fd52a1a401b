/** What one sees on a terminal, by the cells of a terminal emulator: while its window changes, and at 80 columns. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { loadScreens, type Screen, type Size } from '../../tools/images/screen.js';
import { bootstrap, createSandbox, five, type Sandbox, type StartedProcess } from './run-cli.js';
import { createService, endedEvent, json, makeView, progressEvent, type Service, stateEvent } from './service.js';

const bar = /^ {2}[█░]* {2}\d+\/20 {2}\S.*$/;
const row = /^ {2}\S VM k0s-\d+ {2}.*\d+s$/;
const allowed = [bar, row, /^ {4}and \d+ more$/, /^✓ /, /^$/];

describe('what one sees on a terminal', function () {
  this.timeout(120_000);
  let open: (size: Size) => Screen;
  let service: Service;
  let sandbox: Sandbox;
  before(async () => {
    open = await loadScreens();
  });
  beforeEach(async () => {
    service = await createService();
    sandbox = createSandbox(service.url);
  });
  afterEach(async () => {
    sandbox.remove();
    await service.close();
  });

  /** The window changes before the program hears of it, as in a window. */
  function watched(started: StartedProcess, screen: Screen) {
    let read = 0;
    const draw = async () => {
      const text = started.text();
      const fresh = text.slice(read);
      read = text.length;
      await screen.write(fresh);
    };
    return {
      draw,
      async resize({ columns, rows }: Size) {
        await draw();
        screen.resize({ columns, rows });
        const { pid } = started.child;
        const program = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
        const terminal = readlinkSync(`/proc/${program}/fd/2`);
        execFileSync('stty', ['-F', terminal, 'rows', String(rows), 'cols', String(columns)]);
      },
    };
  }

  const running = (n: number): BootstrapView['instances'][number] => ({
    id: `vm:k0s-${n}`,
    step: 'vm',
    title: `VM k0s-${n}`,
    state: 'running',
    attempt: 0,
  });

  function holdTwenty(): void {
    const instances = Array.from({ length: 20 }, (_, n) => running(n));
    const view = makeView({
      state: 'running',
      instances,
      forecast: { p50Seconds: 480, p90Seconds: 720, learntFrom: 3 },
    });
    service.instead.set('POST /bootstraps', [
      (response) => json(response, 201, { bootstrap: view, created: true, changes: [], warnings: [] }),
    ]);
    service.events = [
      { ...stateEvent('running'), at: new Date().toISOString() } as ReturnType<typeof stateEvent>,
      ...instances.slice(1).map(({ id }) => progressEvent(id, 'waits for what does not fit on one line of a window')),
      endedEvent(
        'vm:k0s-0',
        4,
        'a note that is longer than the window is wide, whatever the width of the window may be',
      ),
    ];
    service.stream = 'hold';
  }

  it('is one display, with what is left and no stray line, however the window changes', async () => {
    holdTwenty();
    const first = { columns: 80, rows: 24 };
    const screen = open(first);
    const started = sandbox.spawnOnTerminal([...bootstrap, ...five, '--write-config=false'], first);
    const window = watched(started, screen);
    await started.saw(/1\/20 {2}/);
    for (const size of [
      { columns: 60, rows: 24 },
      { columns: 100, rows: 24 },
      { columns: 41, rows: 24 },
      { columns: 80, rows: 10 },
      { columns: 80, rows: 30 },
      { columns: 30, rows: 30 },
      { columns: 80, rows: 24 },
    ]) {
      await window.resize(size);
      await sleep(500);
      await window.draw();
      const lines = screen.lines();
      const seen = `${size.columns} × ${size.rows}:\n${lines.join('\n')}`;
      expect(
        lines.filter((line) => bar.test(line)),
        seen,
      ).to.have.lengthOf(1);
      const shown = lines.slice(lines.findIndex((line) => line.startsWith('✓ VM k0s-0')));
      for (const line of shown)
        expect(
          allowed.some((each) => each.test(line)),
          `${line}\n${seen}`,
        ).to.equal(true);
      const titles = shown.flatMap((line) => /VM k0s-\d+ /.exec(line) ?? []);
      expect(new Set(titles).size, seen).to.equal(titles.length);
    }
    expect(screen.lines().join('\n')).to.match(/about 8m left, nine in ten within 12m/);
    started.type('\u0003');
    expect((await started.ended).code).to.equal(130);
  });

  it('never has a line that the terminal broke at 80 columns, from the beginning to the summary', async () => {
    const long =
      'a sentence of the service that is quite a bit longer than a terminal of eighty columns is wide, as many are';
    service.view = makeView({ warnings: [long] });
    service.events = [stateEvent('running'), endedEvent('project', 3, long), endedEvent('vm:jumpbox', 41, long)];
    const screen = open({ columns: 80, rows: 200 });
    const started = sandbox.spawnOnTerminal([...bootstrap, ...five, '--timer'], { columns: 80, rows: 200 });
    const { code, stdout } = await started.ended;
    expect(code, stdout).to.equal(0);
    await screen.write(stdout);
    const lines = screen.lines();
    expect(screen.wrapped().map((at) => lines[at - 1])).to.deep.equal([]);
    expect(lines.join('\n'))
      .to.match(/^✓ Cloud project \(3s\) {2}a sentence.*…$/m)
      .and.match(/^Warning: a sentence.*\n {2}\S/m)
      .and.match(/^Next$/m);
  });
});
