/** `plinth` as a process: what it is beyond the code that the other tests run within their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { flagsRelease, version } from '../../shared/version.js';
import { cliPath } from '../support/plinth-here.js';
import { bootstrap, five, type Ran, type Sandbox, watch } from './run-cli.js';
import { json, makeView, type Service } from './service.js';
import { useService } from './use-service.js';

describe('plinth as a process', function () {
  this.timeout(60_000);
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });
  const at = () => ({ cwd: sandbox.folder, env: sandbox.env });
  /** More than a pipe holds. */
  const answerManyViews = () => {
    const views = Array.from({ length: 1500 }, (_, i) => makeView({ id: `b-${i}`, name: `demo-${i}` }));
    service.instead.set('GET /bootstraps', [(response) => json(response, 200, views)]);
  };

  it('is started by its file, wherever Node is', async () => {
    const env = { ...sandbox.env, PATH: `${dirname(process.execPath)}:${sandbox.env['PATH']}` };
    const child = spawn(cliPath, ['--version'], { ...at(), env });
    expect(await watch(child).ended).to.deep.equal({
      code: 0,
      stdout: `${version}\nflags of ${flagsRelease}\n`,
      stderr: '',
    });
  });

  it('says what it says within another process, without colour, with the same code, and writes the same files', async () => {
    mkdirSync(sandbox.path('beneath'));
    const written = ['beneath/config.yaml', 'prod.vault.yaml'];
    const files = ['--install-config=beneath/config.yaml', '--secrets-file=beneath/../prod.vault.yaml'];
    const given: (readonly string[])[] = [
      [],
      [...bootstrap, '--help'],
      ['no-command'],
      [...bootstrap, ...five, ...files],
      [...bootstrap, 'status', 'demo', '--json'],
      [...bootstrap, 'status', 'demo', '--follow'],
      [...bootstrap, 'cancel', 'none'],
    ];
    // The seconds since its start, and which of two wrote the age identity, differ.
    const said = ({ stdout, stderr, code }: Ran) => ({
      code,
      stdout: stdout.replace(/age identity +unchanged/, (line) => line.replace('unchanged', 'written')),
      stderr: stderr.replaceAll(/^\[\d+s\]/gm, '[0s]'),
    });
    service.standing = true;
    for (const args of given) {
      const here = said(await sandbox.run(args));
      for (const file of written) rmSync(sandbox.path(file), { force: true });
      const there = said(await sandbox.spawn(args).ended);
      expect(there, args.join(' ')).to.deep.equal(here);
      expect(there.stdout + there.stderr).to.not.include('\u001b');
      expect(written.filter(sandbox.has), args.join(' ')).to.deep.equal(
        args.includes('--install-config=beneath/config.yaml') ? written : [],
      );
    }
  });

  it('writes a long result to its end, to a reader that takes its time', async () => {
    answerManyViews();
    const { child, ended } = sandbox.spawn([...bootstrap, 'list', '--json']);
    child.stdout?.pause();
    // The pipe is full from its first bytes on.
    await once(child.stdout ?? child, 'readable');
    await sleep(300);
    child.stdout?.resume();
    const { code, stdout } = await ended;
    expect(code).to.equal(0);
    expect(stdout.length).to.be.above(500_000);
    expect((JSON.parse(stdout) as { bootstraps: unknown[] }).bootstraps).to.have.lengthOf(1500);
  });

  it('takes no offence at a reader that has read enough', async () => {
    answerManyViews();
    const { child, ended } = sandbox.spawn([...bootstrap, 'list', '--json']);
    child.stdout?.once('data', () => child.stdout?.destroy());
    const { code, stderr } = await ended;
    expect([code, stderr]).to.deep.equal([0, '']);
  });

  it('reads a config from standard input', async () => {
    const child = spawn(process.execPath, [cliPath, 'configure', '--from', '-', '--force'], at());
    child.stdin.write('endpoints:\n');
    await sleep(500);
    child.stdin.end(`  bootstraps: ${service.url}\n`);
    const { code, stdout, stderr } = await watch(child).ended;
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include(`endpoints.bootstraps  ${service.url}`);
  });

  it('ends when it is done, whatever the service holds open', async () => {
    service.instead.set('GET /bootstraps/b-one/events', [
      (response) =>
        void response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write(`data: ${JSON.stringify({ schema: 1, type: 'end', reason: 'ended', state: 'succeeded' })}\n\n`),
    ]);
    service.standing = true;
    const ended = await Promise.race([
      sandbox.spawn([...bootstrap, 'status', 'demo', '--follow']).ended,
      sleep(20_000),
    ]);
    expect(ended?.code).to.equal(0);
  });
});
