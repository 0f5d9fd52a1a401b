import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { sha256 } from '../../shared/sha256.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { endOf, type Jumpbox, makeJumpbox, makeShellPackage, resultsOf } from './jumpbox.js';

/** The command line, the sample package, a real PostgreSQL server; the service is asked over HTTP. */
describe('plinth install platform', function () {
  this.timeout(240_000);
  let box: Jumpbox;
  before(async function () {
    await keysAtHand.call(this);
    box = await makeJumpbox();
  });
  after(() => box?.close());

  const values = Buffer.from([...Buffer.from('a: "ü"\r\n\n# keep\t\n'), 0xff, 0x00, 0x0a]);
  const get = async (path: string, token?: string) => {
    const reply = await fetch(`${box.url}${path}`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    return { status: reply.status, body: await reply.text() };
  };
  const installed = [
    ...['copy-dependencies', 'extract-dependencies', 'sops', 'docker', 'postgres', 'ceph'],
    ...['set-up-cluster', 'platform', 'ms-backends'],
  ];

  it('installs the components in order and leaves out what plinth or the config leaves out', async () => {
    writeFileSync(box.sandbox.path('one.yaml'), values);
    const ran = await box.install('--pc-apps-values', 'one.yaml');
    expect(ran.code, ran.stdout + ran.stderr).to.equal(0);
    const results = resultsOf(ran);
    expect(Object.keys(results)).to.deep.equal([
      ...['copy-dependencies', 'extract-dependencies', 'load-container-images', 'sops', 'docker', 'postgres', 'ceph'],
      ...['kubernetes', 'set-up-cluster', 'platform', 'ms-backends'],
    ]);
    for (const [name, result] of Object.entries(results)) {
      expect(result, name).to.equal(installed.includes(name) ? 'installed' : 'skipped');
    }
    expect(endOf(ran)).to.deep.include({
      type: 'result',
      exitCode: 0,
      package: { name: 'plinth-sample', version: '1.0.0', hash: box.made.hash },
    });
    const health = await get('/healthz');
    expect(JSON.parse(health.body)).to.deep.equal({ status: 'ok', version: '1.0.0', hash: box.made.hash });
  });

  it('hands values files on byte for byte', () => {
    expect(sha256(readFileSync(join(box.root, 'etc/plinth-sample/values/1-one.yaml')))).to.equal(sha256(values));
  });

  it('only looks, when all stands', async () => {
    const ran = await box.install('--pc-apps-values', 'one.yaml');
    expect(ran.code, ran.stderr).to.equal(0);
    for (const name of installed) expect(resultsOf(ran)[name], name).to.equal('unchanged');
  });

  it('waits for a service that is slow to answer, and does not begin it anew', async () => {
    const pid = Number(readFileSync(join(box.root, 'run/plinth-sample.pid'), 'utf8'));
    process.kill(pid, 'SIGSTOP');
    try {
      const looking = box.start('--pc-apps-values', 'one.yaml');
      await looking.saw(/"component":"platform".*"state":"checking"/);
      await sleep(4000);
      process.kill(pid, 'SIGCONT');
      const { code, stdout, stderr } = await looking.ended;
      expect(code, stderr).to.equal(0);
      expect(stdout).to.match(/"type":"component-ended","component":"platform".*"result":"unchanged"/);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  it('mends what was changed by hand, and that alone', async () => {
    const path = join(box.root, 'etc/plinth-sample/ceph.json');
    const before = readFileSync(path);
    writeFileSync(path, '{}');
    const results = resultsOf(await box.install('--pc-apps-values', 'one.yaml'));
    expect(results['ceph']).to.equal('installed');
    expect(results['platform']).to.equal('unchanged');
    expect(readFileSync(path)).to.deep.equal(before);
  });

  it('makes a user whose token the platform takes, and keeps but a hash of it', async () => {
    const args = [
      'install',
      'user',
      '--json',
      '--root',
      box.root,
      '--state-dir',
      box.state,
      '--package',
      box.made.full.path,
    ];
    const ran = await box.sandbox.run([...args, '--user', 'smoke']);
    expect(ran.code, ran.stderr).to.equal(0);
    const { token, url, user } = endOf(ran) as { token: string; url: string; user: string };
    expect([user, url]).to.deep.equal(['smoke', `${box.url}/api/me`]);
    expect(await get('/api/me', token)).to.deep.include({ status: 200, body: '{"user": "smoke", "visits": 1}\n' });
    expect((await get('/api/me', `${token}x`)).status).to.equal(401);
    expect((await get('/api/me')).status).to.equal(401);
    expect(textOfAll(box.root) + textOfAll(box.state)).not.to.contain(token);
    expect(ran.stdout.split(token)).to.have.length(2);
    expect(ran.stderr).not.to.contain(token);
  });

  it('leaves no secret where it does not belong', async () => {
    const ran = await box.sandbox.run(box.args('--verbose').filter((arg) => arg !== '--json'));
    for (const name of ['postgresPassword', 'postgresPasswordWorkspace', 'openFgaPresharedKey', 'registryPassword']) {
      const secret = box.files.value(name) ?? '';
      expect(secret.length, name).to.be.above(6);
      expect(ran.stdout + ran.stderr, name).not.to.contain(secret);
      expect(textOfAll(box.state), name).not.to.contain(secret);
      const holders = filesBeneath(box.root).filter((path) => readFileSync(path, 'utf8').includes(secret));
      expect(
        holders.map((path) => path.slice(box.root.length)),
        name,
      ).to.deep.equal(name === 'postgresPasswordWorkspace' ? ['/etc/plinth-sample/pgpass'] : []);
    }
    expect(statSync(join(box.root, 'etc/plinth-sample/pgpass')).mode & 0o777).to.equal(0o600);
  });

  it('says all that is wrong at once, and does nothing', async () => {
    box.sandbox.write('bad.yaml', 'version: 1\n');
    const state = box.sandbox.path('untouched');
    const { code, stderr } = await box.sandbox.run([
      ...['install', 'platform', '--install-config', 'bad.yaml', '--secrets-file', 'none.yaml'],
      ...['--age-key', 'no.key', '--pc-apps-values', 'gone.yaml', '--root', 'here', '--state-dir', state],
    ]);
    expect(code).to.equal(2);
    for (const flag of ['--install-config', '--secrets-file', '--age-key', '--pc-apps-values', '--root', '--package']) {
      expect(stderr).to.contain(flag);
    }
    expect(box.sandbox.has('untouched')).to.equal(false);
  });

  it('refuses a package that is not the one that was asked for, and does nothing', async () => {
    const file = box.sandbox.path('asked.tar.gz');
    await makeShellPackage(file, { only: 'touch "$PLINTH_ROOT/asked"' });
    const state = ['--state-dir', box.sandbox.path('asked-state')];
    const asked = ['--install-hash', 'f'.repeat(40), '--install-version', 'v9.9.9'];
    const ran = await box.install('--package', file, ...state, ...asked);
    expect(ran.code).to.equal(2);
    expect(ran.stderr).to.match(/--install-hash is f{40}, and the package bears [0-9a-f]{40}\./);
    expect(ran.stderr).to.match(/--install-version is v9\.9\.9, and the package is 0\./);
    expect(readdirSync(box.root)).not.to.include('asked');
    const { version, hash } = box.made;
    const meant = await box.install(
      '--pc-apps-values',
      'one.yaml',
      '--install-hash',
      hash,
      '--install-version',
      `v${version}`,
    );
    expect(meant.code, meant.stderr).to.equal(0);
  });

  it('says which component failed, what it said last, and what to do; then goes on from there', async () => {
    const file = box.sandbox.path('shell.tar.gz');
    const marker = box.sandbox.path('mended');
    const counting = (name: string) => `echo "$PLINTH_ACTION" >> "$PLINTH_ROOT/${name}.log"`;
    await makeShellPackage(file, {
      first: `${counting('first')}; cat > /dev/null`,
      second: `cat > /dev/null; [ "$PLINTH_ACTION" = install ] || exit 0; test -f ${marker} || { echo "the disk is full"; exit 75; }`,
    });
    const state = ['--state-dir', box.sandbox.path('shell-state')];
    const ran = await box.install('--package', file, ...state);
    expect(ran.code).to.equal(7);
    expect(endOf(ran)['problem']).to.deep.include({
      code: 'install-failed',
      component: 'second',
      step: 'second',
      temporary: true,
      lastLines: ['the disk is full'],
      componentExit: 75,
    });
    expect(ran.stderr).to.contain('run the same command again');
    box.sandbox.write('mended', '');
    const again = await box.install('--package', file, ...state);
    expect(again.code, again.stderr).to.equal(0);
    expect(resultsOf(again)).to.deep.equal({ first: 'unchanged', second: 'installed' });
    expect(readFileSync(join(box.root, 'first.log'), 'utf8')).to.equal('install\ncheck\ncheck\n');

    await makeShellPackage(file, { second: 'cat > /dev/null' });
    const without = await box.install('--package', file, ...state);
    expect(resultsOf(without)).to.deep.equal({ first: 'removed', second: 'installed' });
    expect(readFileSync(join(box.root, 'first.log'), 'utf8')).to.match(/remove\n$/);
  });

  it('skips what it is told to', async () => {
    const file = box.sandbox.path('skips.tar.gz');
    await makeShellPackage(file, { first: 'exit 3', second: 'cat > /dev/null' });
    const ran = await box.install(
      '--package',
      file,
      '-s',
      'first',
      '-s',
      'what',
      '--state-dir',
      box.sandbox.path('skips'),
    );
    expect(ran.code, ran.stderr).to.equal(0);
    expect(resultsOf(ran)).to.deep.equal({ first: 'skipped', second: 'installed' });
    expect(ran.stderr).to.contain('this package does not have: what');
  });

  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    it(`is run again after ${signal}, and what ran then is ended first`, async () => {
      const file = box.sandbox.path(`${signal}.tar.gz`);
      const log = join(box.root, `${signal}.log`);
      await makeShellPackage(file, {
        only: `cat > /dev/null; [ "$PLINTH_ACTION" = install ] || exit 0; echo begun >> ${log}; test -f ${box.root}/${signal}.go || { sleep 50; echo orphan >> ${log}; }`,
      });
      const state = ['--state-dir', box.sandbox.path(signal)];
      const first = box.start('--package', file, ...state);
      await first.saw(/"state":"installing"/);
      for (let waited = 0; waited < 5000 && !filesBeneath(box.root).includes(log); waited += 20) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      first.child.kill(signal);
      const ended = await first.ended;
      if (signal === 'SIGINT') {
        expect(ended.code).to.equal(130);
        expect(ended.stderr).to.contain('Run the same command again');
      }
      writeFileSync(join(box.root, `${signal}.go`), '');
      const again = await box.install('--package', file, ...state);
      expect(again.code, again.stderr).to.equal(0);
      expect(readFileSync(log, 'utf8')).to.equal('begun\nbegun\n');
    });
  }

  it('ends at once after a second Ctrl-C, whatever a component does with the first', async () => {
    const file = box.sandbox.path('stubborn.tar.gz');
    const begun = join(box.root, 'stubborn.begun');
    await makeShellPackage(file, {
      only: `trap '' TERM; cat > /dev/null; [ "$PLINTH_ACTION" = install ] || exit 0; touch ${begun}; sleep 50`,
    });
    const state = box.sandbox.path('stubborn');
    const first = box.start('--package', file, '--state-dir', state);
    await first.saw(/"state":"installing"/);
    while (!existsSync(begun)) await sleep(20);
    first.interrupt();
    expect(await Promise.race([first.ended, sleep(1000)])).to.equal(undefined);
    first.interrupt();
    const ended = await Promise.race([first.ended, sleep(4000)]);
    const lock = filesBeneath(state).find((path) => path.endsWith('install.lock')) ?? '';
    process.kill(-(JSON.parse(readFileSync(lock, 'utf8')) as { group: number }).group, 'SIGKILL');
    expect(ended?.code).to.equal(130);
  });

  it('is one at a time', async () => {
    const file = box.sandbox.path('slow.tar.gz');
    await makeShellPackage(file, { only: 'cat > /dev/null; [ "$PLINTH_ACTION" = install ] && sleep 50; exit 0' });
    const state = ['--state-dir', box.sandbox.path('slow')];
    const first = box.start('--package', file, ...state);
    await first.saw(/"state":"installing"/);
    const second = await box.install('--package', file, ...state);
    expect(second.code).to.equal(5);
    expect(second.stderr).to.match(/Process \d+ installs here already/);
    first.child.kill('SIGINT');
    await first.ended;
  });

  const filesBeneath = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  const textOfAll = (folder: string): string =>
    filesBeneath(folder)
      .map((path) => readFileSync(path, 'latin1'))
      .join('\n');
});
