/** What jobs said on machines, on the command line: a few lines while following, all of it by `logs`. */
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import type { BootstrapEvent } from '../../shared/bootstrap/event.js';
import { bootstrap, five, type Sandbox } from './run-cli.js';
import { endedEvent, json, makeView, type Service, shortRun, stateEvent } from './service.js';
import { useService } from './use-service.js';

const at = '2026-01-31T12:00:00.000Z';
const logEvent = (instance: string, text: string, extras: object = {}): BootstrapEvent => ({
  schema: 1,
  type: 'log',
  at,
  instance,
  generation: 1,
  offset: 0,
  text,
  ...extras,
});

describe('what is said on machines', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });
  const following = [...bootstrap, ...five, '--write-config=false'];
  const saidIn = (text: string) =>
    text.split('\n').flatMap((line) => / {2}(VM jumpbox │ .*)$/.exec(stripVTControlCharacters(line))?.[1] ?? []);

  it('stands under its step while following, line by line however it came, and free of what moves the cursor', async () => {
    service.events = [
      stateEvent('running'),
      logEvent('vm:jumpbox', 'first\nsec'),
      logEvent('vm:jumpbox', 'ond \u001b[2Jline\n 10%\r 50%\r100%\nno end'),
      endedEvent('vm:jumpbox', 3),
      stateEvent('succeeded'),
    ];
    const { code, stderr } = await sandbox.run(following);
    expect(code, stderr).to.equal(0);
    expect(saidIn(stderr)).to.deep.equal([
      'VM jumpbox │ first',
      'VM jumpbox │ second line',
      'VM jumpbox │ 100%',
      'VM jumpbox │ no end',
    ]);
    expect(stderr.indexOf('no end')).to.be.below(stderr.indexOf('✓ VM jumpbox'));
  });

  it('does not drown the terminal: the last lines of much, and where all of it is', async () => {
    const many = Array.from({ length: 500 }, (_, n) => `line ${n}\n`).join('');
    service.events = [
      stateEvent('running'),
      logEvent('vm:jumpbox', many),
      logEvent('vm:jumpbox', `${'x'.repeat(5000)}\n`, { skipped: 123_456 }),
      stateEvent('succeeded'),
    ];
    const said = saidIn((await sandbox.run(following)).stderr);
    expect(said).to.have.lengthOf(13);
    expect(said[0]).to.equal('VM jumpbox │ … 490 lines left out (all of it: plinth beta bootstrap-cloud logs demo)');
    expect(said[10]).to.equal('VM jumpbox │ line 499');
    expect(said[11]).to.equal('VM jumpbox │ … 121 KiB left out');
    expect(said[12]?.length).to.be.below(450);
  });

  it('stays dim where a terminal breaks its lines, and makes nothing else dim', async () => {
    const words = Array.from({ length: 30 }, (_, n) => `word-${n}`);
    service.events = [stateEvent('running'), logEvent('vm:jumpbox', `${words.join(' ')}\n`), stateEvent('succeeded')];
    const { stdout } = await sandbox.startOnTerminal(following, { columns: 60 }).ended;
    const lines = stdout.split('\n').filter((line) => line.includes('word-'));
    expect(lines).to.have.length.above(3);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is about them
    for (const line of lines) expect(line).to.match(/\u001b\[2m[^\u001b]*word-[^\u001b]*\u001b\[(?:0|22)m/);
  });

  it('is an event with --json, and nothing at all with --ssh-quiet or of an earlier generation', async () => {
    service.events = [...shortRun.slice(0, 1), logEvent('vm:jumpbox', 'hello\n'), ...shortRun.slice(1)];
    const events = (stdout: string) =>
      stdout.split('\n').flatMap((line) => (line.includes('"type":"log"') ? [JSON.parse(line) as object] : []));
    const { stdout } = await sandbox.run([...following, '--json']);
    expect(events(stdout)).to.deep.equal([logEvent('vm:jumpbox', 'hello\n')]);
    for (const args of [[], ['--json']]) {
      const quiet = await sandbox.run([...following, '--ssh-quiet', ...args]);
      expect(quiet.stdout + quiet.stderr).not.to.include('hello');
    }
    service.view = makeView({ generation: 2 });
    expect((await sandbox.run(following)).stderr).not.to.include('hello');
  });

  it('scrolls above the display of a terminal', async () => {
    service.events = [stateEvent('running'), logEvent('vm:jumpbox', 'hello from there\n'), ...shortRun.slice(1)];
    const { code, stdout } = await sandbox.startOnTerminal(following, { rows: 12, columns: 80 }).ended;
    expect(code).to.equal(0);
    expect(stdout).to.include('  \u001b[2mVM jumpbox │ hello from there\u001b[22m');
  });

  describe('is shown by logs', () => {
    const chunksOf: Record<string, string[]> = {};
    beforeEach(() => {
      service.standing = true;
      Object.assign(chunksOf, { project: ['ä first\n', 'second\n'], 'vm:jumpbox': ['no end'] });
      const answer = () => {
        service.instead.set('GET /bootstraps/b-one/logs', [
          (response, { path }) => {
            answer();
            const query = new URL(path, 'http://x').searchParams;
            const instance = query.get('instance');
            const size = (texts: readonly string[]) => Buffer.byteLength(texts.join(''));
            if (instance === null) {
              const logs = Object.entries(chunksOf).map(([id, texts]) => ({
                instance: id,
                generation: 1,
                begins: 0,
                bytes: size(texts),
              }));
              return json(response, 200, logs.reverse());
            }
            const texts = chunksOf[instance] ?? [];
            const nth = texts.findIndex((_, n) => size(texts.slice(0, n)) >= Number(query.get('offset')));
            const offset = size(texts.slice(0, nth));
            const text = texts[nth] ?? '';
            json(response, 200, {
              instance,
              chunks: nth < 0 ? [] : [{ offset, generation: 1, at, text }],
              next: offset + Buffer.byteLength(text),
              more: true,
            });
          },
        ]);
      };
      answer();
    });
    const logs = [...bootstrap, 'logs', 'demo'];

    it('step by step under headings, or one as it was said', async () => {
      const all = await sandbox.run(logs);
      expect([all.code, all.stdout]).to.deep.equal([
        0,
        '==> Cloud project (project)\nä first\nsecond\n\n==> VM jumpbox (vm:jumpbox)\nno end',
      ]);
      expect((await sandbox.run([...logs, 'project'])).stdout).to.equal('ä first\nsecond\n');
      expect((await sandbox.run([...logs, 'vm'])).stdout).to.equal('no end');
    });

    it('as JSON, piece by piece', async () => {
      const { stdout } = await sandbox.run([...logs, 'project', '--json']);
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.map(({ type, text }) => text ?? type)).to.deep.equal(['ä first\n', 'second\n', 'result']);
      expect(lines.at(-1)).to.deep.include({ exitCode: 0, logs: [{ instance: 'project', bytes: 16 }] });
    });

    it('until the bootstrap ends with --follow; Ctrl-C detaches', async () => {
      service.view = makeView({ state: 'running' });
      const started = sandbox.start([...logs, 'project', '--follow']);
      const interrupted = sandbox.start([...logs, '--follow']);
      await Promise.all([started.saw(/second/), interrupted.saw(/second/)]);
      interrupted.interrupt();
      expect((await interrupted.ended).code).to.equal(130);
      chunksOf['project']?.push('third\n');
      service.view = makeView();
      const { code, stdout } = await started.ended;
      expect([code, stdout]).to.deep.equal([0, 'ä first\nsecond\nthird\n']);
    });

    it('with a word where nothing was said, and a refusal of a step that is none', async () => {
      for (const instance of Object.keys(chunksOf)) delete chunksOf[instance];
      expect((await sandbox.run(logs)).stdout).to.equal('Nothing was said on the machines of demo so far.\n');
      const { code, stderr } = await sandbox.run([...logs, 'instal']);
      expect(code).to.equal(4);
      expect(stderr).to.include('The bootstrap of demo has no step "instal".').and.include('project, vm');
    });
  });
});
