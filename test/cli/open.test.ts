/** `plinth open`: prints the address of a platform, and opens it where a person sits at a terminal. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { createSandbox, type Sandbox } from './run-cli.js';
import { createService, makeView, type Service } from './service.js';

const url = 'https://cs.demo.example.com';

describe('plinth open', () => {
  let service: Service;
  let sandbox: Sandbox;
  beforeEach(async () => {
    service = await createService();
    service.standing = true;
    service.view = viewWith({});
    sandbox = createSandbox(service.url);
    // The browser of Linux and of macOS alike.
    for (const program of ['xdg-open', 'open']) {
      writeFileSync(
        sandbox.path(program),
        `#!/bin/sh\nprintf '%s' "$*" >${sandbox.path('opened.new')}\nmv ${sandbox.path('opened.new')} ${sandbox.path('opened')}\n`,
      );
      chmodSync(sandbox.path(program), 0o755);
    }
    sandbox.env['PATH'] = `${sandbox.folder}:${sandbox.env['PATH']}`;
  });
  afterEach(async () => {
    sandbox.remove();
    await service.close();
  });

  const viewWith = (changes: Partial<BootstrapView>) => {
    const { result } = makeView();
    return makeView({ result: { ...result, platform: { url } }, ...changes });
  };

  it('opens the address on a terminal, and prints it', async () => {
    const { code, stdout } = await sandbox.startOnTerminal(['open', 'demo']).ended;
    expect([code, stdout]).to.deep.equal([0, `${url}\n`]);
    while (!existsSync(sandbox.path('opened'))) await setTimeout(20);
    expect(readFileSync(sandbox.path('opened'), 'utf8')).to.equal(url);
  });

  it('only prints it in a pipe, with --json, and where there is no browser', async () => {
    expect((await sandbox.run(['open', 'demo'])).stdout).to.equal(`${url}\n`);
    expect(JSON.parse((await sandbox.run(['open', 'demo', '--json'])).stdout)).to.deep.include({ exitCode: 0, url });
    const none = await sandbox.startOnTerminal(['open', 'demo'], { env: { PATH: '/nowhere' } }).ended;
    expect([none.code, none.stdout]).to.deep.equal([0, `${url}\n`]);
    expect(existsSync(sandbox.path('opened'))).to.equal(false);
  });

  it('knows the platform while it is looked at again, and after a failure elsewhere', async () => {
    const { result } = makeView();
    for (const state of ['waiting', 'failed'] as const) {
      const install = { id: 'install:dc1', step: 'install', title: 'Platform dc1', state, attempt: 0 };
      service.view = viewWith({ instances: [install], result: { ...result, platform: { url } } });
      expect(await sandbox.run(['open', 'demo'])).to.include({ code: 0, stdout: `${url}\n` });
    }
  });

  it('says that there is none, and what to do', async () => {
    const cases: [changes: Partial<BootstrapView>, told: string][] = [
      [{ result: makeView().result }, 'demo has no platform: none is installed.'],
      [{ state: 'removing' }, 'demo has no platform: it is being removed.'],
    ];
    for (const [changes, told] of cases) {
      service.view = viewWith(changes);
      const { code, stderr } = await sandbox
        .startOnTerminal(['open', 'demo'])
        .ended.then((ran) => ({ ...ran, stderr: ran.stdout }));
      expect([code, stderr.includes(told), stderr.includes('status demo')], stderr).to.deep.equal([4, true, true]);
    }
    expect(existsSync(sandbox.path('opened'))).to.equal(false);
  });
});
