/** Text of other people, of machines and of Google on the caller's terminal: all of it can be seen, and none of it steers. */
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { hiddenIn } from '../../shared/visible-text.js';
import { hiddenTexts } from '../support/hidden-text.js';
import { bootstrap, five, type Ran, type Sandbox } from './run-cli.js';
import { endedEvent, json, makeView, progressEvent, refuse, type Service, stateEvent } from './service.js';
import { useService } from './use-service.js';

const createdAt = '2026-01-31T12:00:00.000Z';
const acme = '7d8b9c1e-4f5a-4b6c-8d7e-9f0a1b2c3d4e';
/** All of it, as somebody may have it in one text. */
const strange = `x ${hiddenTexts.map(([, text]) => text).join(' ')} \u001b]0;title\u0007 y`;

/** Without the lines and colours of the command line itself. */
const hiddenOn = (text: string): string | undefined =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks at
  hiddenIn(text.replaceAll(/\r?\n|\u001b\[[\d;]*m/g, ''));
/** On a terminal, the display of what goes on also moves the cursor. */
const hiddenOnScreen = (text: string): string | undefined =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks at
  hiddenOn(text.replaceAll(/\r|\u001b\[\??\d*[A-Zhl]/g, ''));

describe('strange text', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  }, 'standing');

  const odd = (): BootstrapView => {
    const { result, ...view } = makeView();
    return {
      ...view,
      name: strange,
      owner: strange,
      protection: { until: createdAt, reason: strange, by: strange },
      sharedWith: [strange],
      warnings: [strange],
      problem: { code: 'cloud-quota', detail: strange, advice: strange },
      instances: view.instances.map((each) => ({ ...each, title: strange, note: strange, state: 'running' })),
      result: {
        ...result,
        vms: result.vms.map((vm) => ({ ...vm, name: strange, machineType: strange })),
        dns: {
          project: strange,
          zone: strange,
          nameServers: [strange],
          records: [{ name: strange, address: strange }],
        },
        registry: strange,
        datacenters: result.datacenters.map((each) => ({ ...each, name: strange, ready: false })),
      },
    };
  };
  const answer = (name: string, body: unknown) =>
    service.instead.set(
      name,
      Array(3).fill((response: Parameters<typeof json>[0]) => json(response, 200, body)),
    );

  const commands: readonly (readonly [args: readonly string[], prepare: () => void])[] = [
    [['beta', 'bootstrap-cloud', 'list'], () => undefined],
    [['beta', 'bootstrap-cloud', 'status', 'demo'], () => undefined],
    [
      ['beta', 'bootstrap-cloud', 'protect', 'demo', '--until', '2030-01-01T00:00:00Z', '--reason', 'x'],
      () => answer('POST /bootstraps/b-one/protect', odd()),
    ],
    [
      ['beta', 'bootstrap-cloud', 'extend', 'demo', '--ttl', '4h'],
      () => answer('POST /bootstraps/b-one/extend', odd()),
    ],
    [
      ['costs'],
      () =>
        answer('GET /costs', {
          by: 'project',
          currency: 'USD',
          pricesAsOf: '2026-01-01',
          rows: [{ key: '2026-10', name: strange, owner: strange, bootstraps: 2, amount: '12.50' }],
          total: '12.50',
          unknown: [strange],
          notes: [strange],
        }),
    ],
    [['org', 'list'], () => answer('GET /organizations', [{ id: acme, name: strange, role: 'admin', createdAt }])],
    [
      ['team', 'list'],
      () => answer('GET /teams', [{ teamId: 42, name: strange, organizationId: acme, role: 'admin', createdAt }]),
    ],
    [
      ['org', 'events', acme],
      () =>
        answer(`GET /organizations/${acme}/events`, [
          {
            id: '1',
            at: createdAt,
            actor: strange,
            action: 'member-removed',
            email: strange,
            why: strange,
            before: { email: strange, role: 'admin' },
            after: null,
          },
        ]),
    ],
    [
      ['beta', 'bootstrap-cloud', 'cancel', 'demo'],
      () =>
        service.instead.set('POST /bootstraps/b-one/cancel', [
          refuse('cloud-policy', strange, {
            advice: `${strange}\n${strange}`,
            errors: [{ path: strange, message: strange }],
          }),
        ]),
    ],
    [
      [...bootstrap, ...five, '--verbose'],
      () => {
        service.events = [
          stateEvent('running'),
          progressEvent('project', strange, strange),
          endedEvent('project', 3, strange),
          {
            schema: 1,
            type: 'log',
            at: createdAt,
            instance: 'vm:jumpbox',
            generation: 1,
            offset: 0,
            text: `${strange}\n`,
          },
          stateEvent('failed'),
        ];
        service.view = { ...service.view, state: 'failed' };
      },
    ],
  ];

  const seenIn = (ran: Ran) => `${ran.stdout}\n${ran.stderr}`;

  for (const [args, prepare] of commands) {
    it(`can be seen in all that plinth ${args.slice(0, 3).join(' ')} writes`, async () => {
      service.view = odd();
      prepare();
      const plain = await sandbox.run(args);
      prepare();
      const terminal = await sandbox.startOnTerminal(args, { columns: 120 }).ended;
      prepare();
      const machine = await sandbox.run([...args, '--json']);
      const hidden = {
        plain: hiddenOn(seenIn(plain)),
        terminal: hiddenOnScreen(seenIn(terminal)),
        machine: hiddenOn(seenIn(machine)),
      };
      expect(hidden, JSON.stringify([plain, machine])).to.deep.equal({
        plain: undefined,
        terminal: undefined,
        machine: undefined,
      });
      expect(seenIn(plain), 'it is shown at all').to.include('<U+202E>');
    });
  }

  it('can be seen in logs of machines on a terminal, and reaches a program byte by byte', async () => {
    const log = { instance: 'vm:jumpbox', generation: 1, begins: 0, bytes: 1 };
    const page = { instance: 'vm:jumpbox', next: 1, more: false };
    const chunk = { offset: 0, generation: 1, at: createdAt, text: `${strange}\n` };
    const logs = (): void =>
      void service.instead.set('GET /bootstraps/b-one/logs', [
        (response) => json(response, 200, [log]),
        (response) => json(response, 200, { ...page, chunks: [chunk] }),
      ]);
    logs();
    const { stdout } = await sandbox.run(['beta', 'bootstrap-cloud', 'logs', 'demo', 'vm']);
    expect(stdout).to.include('ac\u202eme').and.to.include('\u001b]0;title\u0007');
    logs();
    const terminal = await sandbox.startOnTerminal(['beta', 'bootstrap-cloud', 'logs', 'demo', 'vm']).ended;
    expect(hiddenOnScreen(seenIn(terminal))).to.equal(undefined);
    expect(terminal.stdout).to.include('<U+202E>');
  });

  it('is the same in JSON, for programs', async () => {
    service.view = odd();
    const { stdout } = await sandbox.run(['beta', 'bootstrap-cloud', 'status', 'demo', '--json']);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(JSON.stringify(lines)).to.include(JSON.stringify(strange).slice(1, -1));
  });

  it('is one name in any spelling', async () => {
    const composed = 'M\u00fcller';
    answer('GET /organizations', [{ id: acme, name: composed, role: 'admin', createdAt }]);
    answer(`GET /organizations/${acme}/members`, [{ email: 'alice@example.com', role: 'admin' }]);
    const { code, stderr } = await sandbox.run(['org', 'members', composed.normalize('NFD')]);
    expect(code, stderr).to.equal(0);
  });
});
