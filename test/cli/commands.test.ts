import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { loadCommands } from '../../cli/commands/index.js';
import type { ArgumentName } from '../../cli/frame/arguments.js';
import { exitCodes } from '../../cli/frame/exit-codes.js';
import { commandHelp } from '../../cli/frame/help.js';
import { openSshPair } from '../../shared/openssh.js';
import { type ProblemCode, problemKinds } from '../../shared/problems.js';
import { sha256 } from '../../shared/sha256.js';
import { flagsRelease, version } from '../../shared/version.js';
import { archiveOf, smallPackage } from '../support/archive.js';
import { bootstrap, five, type Sandbox } from './run-cli.js';
import { json, makeView, planReply, refuse, type Service } from './service.js';
import { useService } from './use-service.js';

const commands = await loadCommands();

const lines = (text: string): Array<Record<string, unknown>> =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** What a command takes, one of each. */
const words: Readonly<Record<ArgumentName, string>> = {
  project: 'demo',
  organization: '7d8b9c1e-4f5a-4b6c-8d7e-9f0a1b2c3d4e',
  teamId: '42',
  email: 'bob@example.com',
  role: 'admin',
  name: 'acme',
  host: 'k0s-1',
  step: 'vm',
  address: '127.0.0.1',
  port: '1',
  shell: 'bash',
};

/** A bootstrap that the quota stopped. */
const failedView = (advice = 'Ask for a higher quota.') =>
  makeView({
    state: 'failed',
    instances: [
      {
        id: 'quota',
        step: 'quota',
        title: 'Quota',
        state: 'failed',
        attempt: 1,
        problem: { code: 'cloud-quota', detail: 'CPUS: 100 are needed, 24 are allowed.', advice },
      },
    ],
  });

describe('plinth', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });
  const run = (args: readonly string[], env?: Record<string, string>) => sandbox.run(args, env);

  describe('help', () => {
    it('lists the commands, on stdout', async () => {
      for (const args of [[], ['--help'], ['-h'], ['beta', '--help']]) {
        const { code, stdout, stderr } = await run(args);
        expect([code, stderr]).to.deep.equal([0, '']);
        expect(stdout)
          .to.match(/beta bootstrap-cloud +Bootstrap/)
          .and.match(/status <project>/);
      }
    });

    it('shows every flag of the bootstrap, its default, and what people must know', async () => {
      const { stdout } = await run([...bootstrap, '--help']);
      for (const text of [
        'beta',
        'not for production',
        '14 VMs',
        'about 100 vCPUs',
        '6 reserved static',
        'You need permission',
      ]) {
        expect(stdout.replaceAll(/\s+/g, ' ')).to.include(text);
      }
      expect(stdout.match(/^ {2}(?:-\w, | {4})--[a-z]/gm)).to.have.lengthOf(75 + 9);
      expect(stdout).to.include('(default: v1.31.14+k0s.0)').and.include('[PLINTH_FORGE1_PAT]');
      expect(stdout).to.include('-s, --install-skip-steps <stringArray>').and.include('130 detached');
    });

    it('begins with the five flags that one needs, has the others by group, and with --all the whole of each', async () => {
      const page = async (...words: string[]) => (await run([...words, '--help'])).stdout;
      const brief = await page(...bootstrap);
      const [, needed = '', others = ''] = /^What it needs:\n((?: .*\n)+)([\s\S]*)/m.exec(brief) ?? [];
      expect(needed.match(/--[a-z\d-]+/g)).to.deep.equal(five.map((flag) => flag.replace(/=.*/, '')));
      expect(brief.indexOf('What it needs')).to.be.below(brief.indexOf('not for production'));
      expect(others)
        .to.match(/^Core and cloud:\n +--folder-id/m)
        .and.include('plinth help beta bootstrap-cloud --all');
      const whole = await page(...bootstrap, '--all');
      for (const text of ['Cannot be combined with', 'Where spot capacity is unavailable']) {
        expect(whole.replaceAll(/\s+/g, ' ')).to.include(text);
        expect(brief.replaceAll(/\s+/g, ' ')).not.to.include(text);
      }
      expect((await run(['help', ...bootstrap, '--all'])).stdout).to.equal(whole);
      expect(await page('up')).not.to.include('What it needs');
    });

    it('fits a narrow terminal', () => {
      for (const command of commands) {
        const text = commandHelp(command, 56, true).replace(/^(?:Usage|Examples):\n(?: .*\n?)+/gm, '');
        expect(text.split('\n').filter((line) => line.length > 56)).to.deep.equal([]);
      }
    });

    it('is asked for by a word as by a flag', async () => {
      const page = async (...args: string[]) => (await run(args)).stdout;
      expect(await page('help')).to.equal(await page('--help'));
      expect(await page('help', 'team')).to.equal(await page('team', '--help'));
      expect(await page('help', 'team', 'create')).to.equal(await page('team', 'create', '--help'));
      expect(await page('version'))
        .to.equal(await page('--version'))
        .and.to.equal(await page('-v'));
      const { code, stderr } = await run(['help', 'beta', 'bootstrap-clod']);
      expect([code, stderr]).to.deep.equal([
        2,
        'Error: plinth has no command "beta bootstrap-clod".\nDid you mean plinth beta bootstrap-cloud?\n',
      ]);
    });

    it('is data with --json: each command with its arguments, flags, examples, and the exit codes', async () => {
      interface Described {
        readonly command: string;
        readonly flags: ReadonlyArray<Readonly<Record<string, unknown>>>;
      }
      const described = async (...args: string[]) => {
        const [result] = lines((await run([...args, '--json'])).stdout);
        expect(result?.['exitCodes']).to.deep.equal(exitCodes);
        return (result?.['commands'] ?? []) as readonly Described[];
      };
      expect((await described('help')).map(({ command }) => command)).to.deep.equal(commands.map(({ words }) => words));
      const [one] = await described(...bootstrap, '--help');
      const flag = (name: string) => one?.flags.find((each) => each['name'] === name);
      expect(flag('--registry-type')).to.include({ type: 'string', required: false, default: 'forge1' });
      expect(flag('--registry-type')?.['values']).to.deep.equal(['local-container', 'artifact-registry', 'forge1']);
      expect(flag('--forge1-pat')).to.include({ variable: 'PLINTH_FORGE1_PAT' });
      expect(flag('--install-skip-steps')).to.include({ short: '-s', type: 'stringArray' });
      expect(flag('--project-name')).to.include({ required: true });
      const group = (await described('team', '--help')).map(({ command }) => command.split(' ')[0]);
      expect(group)
        .to.have.length.above(5)
        .and.to.satisfy((all: string[]) => all.every((each) => each === 'team'));
    });

    it('prints its version, and the release whose flags it speaks', async () => {
      expect((await run(['--version'])).stdout).to.equal(`${version}\nflags of ${flagsRelease}\n`);
      // Many programs print a version; this says whose it is.
      expect(lines((await run(['--version', '--json'])).stdout)).to.deep.equal([
        { type: 'result', exitCode: 0, name: 'plinth', version, flags: flagsRelease },
      ]);
    });
  });

  describe('what it refuses by itself', () => {
    const cases: ReadonlyArray<readonly [string, readonly string[], RegExp]> = [
      ['a command it does not have', ['beta', 'bootstrap-clod'], /Did you mean plinth beta bootstrap-cloud\?/],
      [
        'the end of two commands',
        ['transfer'],
        /Did you mean plinth beta bootstrap-cloud transfer or plinth team transfer\?/,
      ],
      [
        'a slip in the end of a command',
        ['lst'],
        /Did you mean plinth beta bootstrap-cloud list, .* or plinth team list\?/,
      ],
      [
        'a slip in a subcommand, and nothing of what a bootstrap would need',
        [...bootstrap, 'lst'],
        /^Error: plinth has no command "beta bootstrap-cloud lst"\.\nDid you mean plinth beta bootstrap-cloud list\?\n$/,
      ],
      ['half a command', ['beta'], /needs a command after it/],
      [
        'a stray word',
        [...bootstrap, ...five, 'stats'],
        /"stats" is a stray word; did you mean plinth beta bootstrap-cloud status\?/,
      ],
      [
        'a flag of another command',
        [...bootstrap, 'list', '--region', 'x'],
        /--region is no flag of plinth beta bootstrap-cloud list/,
      ],
      ['a missing argument', [...bootstrap, 'cancel'], /<project> is missing/],
      [
        'a file that is not there',
        [...bootstrap, ...five, '--pc-apps-values', 'no.yaml'],
        /--pc-apps-values no\.yaml: there is no such file/,
      ],
      [
        'a most that is no amount',
        [...bootstrap, ...five, '--max-cost', '12,50'],
        /--max-cost must be an amount such as 12\.50/,
      ],
      [
        'a public key that is not there',
        [...bootstrap, ...five, '--ssh-public-key-path', '~/no.pub'],
        /--ssh-public-key-path ~\/no\.pub: there is no such file/,
      ],
      [
        'a private key that is not there',
        [...bootstrap, ...five, '--ssh-private-key-path', 'no'],
        /--ssh-private-key-path no: there is no such file/,
      ],
      [
        'a config that cannot be read',
        [...bootstrap, ...five, '--install-config', '/'],
        /--install-config \/ cannot be read/,
      ],
      [
        'a folder that is not there',
        [...bootstrap, ...five, '--install-config', 'no/config.yaml'],
        /there is no folder no/,
      ],
      [
        'one file for config and secrets',
        [...bootstrap, ...five, '--install-config', 'one.yaml', '--secrets-file', './one.yaml'],
        /--secrets-file \.\/one\.yaml is the path of another file, too/,
      ],
      [
        'a file for secrets where the config of the second datacenter goes',
        [...bootstrap, ...five, '--multi-dc', '--secrets-file', 'config-dc2.yaml'],
        /--install-config config-dc2\.yaml is the path of another file, too/,
      ],
      [
        'one file for config and secrets to recover',
        [...bootstrap, ...five, '--recover-config', '--install-config', 'one.yaml', '--secrets-file', 'one.yaml'],
        /--secrets-file one\.yaml is the path of another file, too/,
      ],
      [
        'a folder that is not there, to recover into',
        [...bootstrap, ...five, '--recover-config', '--write-config=false', '--secrets-file', 'no/secrets.yaml'],
        /there is no folder no/,
      ],
      [
        'a config to recover that cannot be read',
        [...bootstrap, ...five, '--recover-config', '--install-config', '/'],
        /--install-config \/ cannot be read/,
      ],
      ['warnings, when strict', [...bootstrap, ...five, '--strict'], /--registry-user is not given/],
      [
        'an endpoint over plain http',
        [...bootstrap, 'list', '--endpoint', 'http://plinth.example.com'],
        /must begin with https/,
      ],
    ];
    for (const [name, args, message] of cases) {
      it(`${name}: exit code 2, on stderr, and nothing is called`, async () => {
        const { code, stdout, stderr } = await run(args);
        expect(code).to.equal(2);
        expect(stdout).to.equal('');
        expect(stderr)
          .to.match(message)
          .and.not.match(/\n\s+at /);
        expect(service.seen).to.deep.equal([]);
      });
    }

    it('is --check for a command that does not look beforehand, with exit code 2, and nothing is called', async () => {
      service.standing = true;
      const others = commands.filter(({ flags }) => flags?.check === undefined);
      expect(others).not.to.deep.equal([]);
      // What `down` reads.
      sandbox.write('plinth.yaml', 'project-name: demo\n');
      for (const { words: asked, takes, flags } of others) {
        const args = [...asked.split(' '), ...takes.map((name) => words[name]), '--check'];
        const { code, stderr } = await run([...args, ...(flags?.yes === undefined ? [] : ['--yes'])]);
        expect([code, service.seen], args.join(' ')).to.deep.equal([2, []]);
        expect(stderr, args.join(' ')).to.match(/--check is no flag of plinth/);
      }
    }).timeout(60_000);

    it('is not what stands where something else is to be recovered', async () => {
      sandbox.write('config.yaml', 'a: [');
      service.instead.set('GET /bootstraps', [refuse('forbidden', 'No.')]);
      const { code, stderr } = await run([...bootstrap, ...five, '--recover-config']);
      expect([code, stderr.includes('No.')]).to.deep.equal([3, true]);
    });

    it('tells all faults at once: of the line, of the rules, of files', async () => {
      const { stderr } = await run([
        ...bootstrap,
        ...five.slice(1),
        '--regoin',
        'x',
        '--preemptible',
        '--spot-vms',
        '--pc-apps-values',
        'no.yaml',
        '--root-disk-size=x',
      ]);
      for (const flag of [
        '--regoin',
        '--project-name is required',
        '--preemptible',
        '--pc-apps-values',
        '--root-disk-size',
      ]) {
        expect(stderr).to.include(flag);
      }
    });

    it('is no file that is larger than memory', async () => {
      writeFileSync(sandbox.path('large.tar.gz'), smallPackage().archive);
      truncateSync(sandbox.path('large.tar.gz'), 3 * 1024 ** 3);
      const { stderr } = await run([...bootstrap, ...five, '--install-local=large.tar.gz', '--pc-apps-values=no.yaml']);
      expect(stderr).to.include('--pc-apps-values').and.not.include('--install-local');
    });

    for (const [what, content, why] of [
      ['a text', 'a: 1\nb\n', /is no gzip archive/],
      ['nothing', '', /is no gzip archive/],
      ['a gzipped text', gzipSync('a: 1\n'), /is no tar archive/],
      ['an archive without a manifest', archiveOf('readme.txt', 'hello'), /has no package\.json/],
      ['an archive of npm', archiveOf('package.json', '{"name":"left-pad"}'), /package\.json is no manifest/],
      ['half a package', archiveOf('package.json', '{"components":[]}').subarray(0, 60), /is cut off/],
    ] as const) {
      it(`is ${what} for --install-local, found before the service is asked`, async () => {
        writeFileSync(sandbox.path('package.tar.gz'), content);
        const flags = ['--registry-user=me', '--install-local', 'package.tar.gz'];
        const { code, stderr } = await run([...bootstrap, ...five, ...flags]);
        expect(code).to.equal(2);
        expect(stderr).to.include('--install-local package.tar.gz: it').and.match(why);
        expect(service.seen).to.deep.equal([]);
      });
    }

    it('is a pipe, of which a second reading would find nothing left', async () => {
      execFileSync('mkfifo', [sandbox.path('pipe')]);
      const { code, stderr } = await run([...bootstrap, ...five, '--pc-apps-values', 'pipe']);
      expect(code).to.equal(2);
      expect(stderr).to.include('--pc-apps-values pipe: it is no regular file');
      expect(service.seen).to.deep.equal([]);
    });

    it('says with --json what it refuses, in a last line on stdout', async () => {
      const { code, stdout } = await run([...bootstrap, '--json']);
      const [result] = lines(stdout);
      expect(code).to.equal(2);
      expect(result).to.include({ type: 'result', exitCode: 2 }).and.have.nested.property('problem.code', 'bad-input');
      expect(result).to.have.nested.property('problem.errors').with.lengthOf(5);
    });
  });

  describe('what travels', () => {
    it('is name, hash and size of a file, never its path or content', async () => {
      const path = join(sandbox.home, 'values.yaml');
      writeFileSync(path, 'token: planted\n');
      // To bring it there plinth logs in as the caller.
      const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
      writeFileSync(join(sandbox.home, '.ssh', 'id_rsa'), openSshPair(pem, '').privateKey, { mode: 0o600 });
      await run([...bootstrap, ...five, '--pc-apps-values', path]);
      expect(service.request().options).to.deep.include({
        pcAppsValues: [`values.yaml@sha256:${sha256('token: planted\n')}:15`],
      });
      expect(JSON.stringify(service.seen)).not.to.include('planted').and.not.to.include(sandbox.home);
    });

    it('is the most that it may cost, as it was written', async () => {
      await run([...bootstrap, ...five, '--max-cost', '12.50']);
      expect(service.request()).to.include({ maxCost: '12.50' });
    });

    it('is what was given, and nothing else', async () => {
      await run([
        ...bootstrap,
        ...five,
        '--multi-dc=false',
        '--timer',
        '--root-disk-size',
        '80',
        '-s',
        'ceph',
        '--secrets-file=x.yaml',
        '--no-write-config',
      ]);
      expect(service.request().options).to.deep.equal({
        projectName: 'demo',
        billingAccount: '012345-6789AB-CDEF01',
        baseDomain: 'demo.example.com',
        forge1AppClientId: 'client',
        forge1AppClientSecret: 'app-secret',
        multiDc: false,
        rootDiskSize: 80,
        installSkipSteps: ['ceph'],
      });
    });

    it('takes secrets from the environment, and a flag before its variable', async () => {
      const env = {
        PLINTH_FORGE1_APP_CLIENT_SECRET: 'from-variable',
        PLINTH_FORGE1_PAT: 'pat-of-variable',
        PLINTH_VAULT_PASSWORD: '',
        PLINTH_REGION: 'us-east1',
      };
      await run([...bootstrap, ...five.slice(0, 4), '--forge1-pat', 'pat-of-flag'], env);
      expect(service.request().options).to.include({
        forge1AppClientSecret: 'from-variable',
        forge1Pat: 'pat-of-flag',
      });
      expect(service.request().options).to.not.have.any.keys('vaultPassword', 'region');
    });

    it('bears the token, and goes to the endpoint of the config file', async () => {
      const { PLINTH_ENDPOINT: _, ...env } = sandbox.env;
      sandbox.env = env;
      const missing = await run([...bootstrap, 'list']);
      expect(missing.code).to.equal(2);
      expect(missing.stderr).to.include('PLINTH_ENDPOINT').and.include('config.yaml');
      mkdirSync(sandbox.configFolder, { recursive: true });
      writeFileSync(join(sandbox.configFolder, 'config.yaml'), `endpoints:\n  bootstraps: ${service.url}/\n`);
      expect((await run([...bootstrap, 'list'])).code).to.equal(0);
      expect(service.seen[0]?.headers).to.include({
        authorization: 'Bearer token-of-alice',
        'user-agent': 'plinth/3.0.0',
      });
      writeFileSync(join(sandbox.configFolder, 'config.yaml'), 'endpoint: x\n');
      const wrong = await run([...bootstrap, 'list']);
      expect([wrong.code, wrong.stderr.includes('config.yaml:1:endpoint is no setting of this file')]).to.deep.equal([
        2,
        true,
      ]);
    });

    it('takes an ID token of the service account it runs as, and a fresh one when that is refused', async () => {
      const { PLINTH_TOKEN: _, ...env } = sandbox.env;
      const metadata = { GCE_METADATA_HOST: new URL(service.url).host, METADATA_SERVER_DETECTION: 'assume-present' };
      sandbox.env = { ...env, ...metadata };
      let made = 0;
      const path = 'GET /computeMetadata/v1/instance/service-accounts/default/identity';
      const answer = (response: ServerResponse) => {
        made += 1;
        const claims = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + 3600 })).toString('base64url');
        response
          .writeHead(200, { 'metadata-flavor': 'Google', 'content-type': 'text/plain' })
          .end(`h.${claims}.number-${made}`);
      };
      service.instead.set(path, [answer, answer, answer]);
      service.instead.set('GET /bootstraps', [refuse('unauthenticated', 'Too old.')]);
      const { code, stderr } = await sandbox.spawn([...bootstrap, 'list']).ended;
      expect(code, stderr).to.equal(0);
      const calls = service.seen.filter((seen) => seen.path === '/bootstraps');
      expect(calls.map(({ headers }) => headers.authorization?.split('.')[2])).to.deep.equal(['number-1', 'number-2']);
      const asked = service.seen.find((seen) => seen.path.includes('/identity'));
      expect(decodeURIComponent(asked?.path ?? '')).to.include(`audience=${service.url}`);
    });

    it('is no token that a header cannot bear, of which nothing is shown', async () => {
      for (const token of ['planted-one\nplanted-two', 'planted-one planted-two', 'planted-\u00e9', 'planted\r\n']) {
        const { code, stdout, stderr } = await run(['org', 'list', '--verbose', '--json'], { PLINTH_TOKEN: token });
        expect(code).to.equal(3);
        expect(stderr).to.include('PLINTH_TOKEN holds a line break, a space');
        expect(stdout + stderr).to.not.include('planted');
      }
      expect(service.seen).to.deep.equal([]);
    });

    it('never shows a secret, not even with --verbose', async () => {
      const planted = { PLINTH_FORGE1_PAT: 'planted-pat', PLINTH_VAULT_PASSWORD: 'planted-vault' };
      const args = [...bootstrap, ...five.slice(0, 4), '--forge1-app-client-secret=planted-secret', '--verbose'];
      for (const more of [[], ['--json'], ['--dry-run'], ['--region', 'x'], ['--forge2-app-client-secret=planted-2']]) {
        const { stdout, stderr } = await run([...args, ...more], planted);
        expect(stdout + stderr).to.not.match(/planted|token-of-alice/);
      }
    });
  });

  describe('its results', () => {
    it('are on stdout, progress and warnings on stderr, without colour in a pipe', async () => {
      const { code, stdout, stderr } = await run([...bootstrap, ...five, '--timer']);
      expect(code).to.equal(0);
      for (const text of [
        'demo (demo-ab12cd34)',
        '203.0.113.7',
        'spot',
        'standard, for want of spot capacity',
        'cs.demo.example.com',
        'ns-1.example.net.',
        'config.yaml',
        'plinth beta bootstrap-cloud ssh demo',
        'Removed',
      ]) {
        expect(stdout).to.include(text);
      }
      expect(stderr).to.match(/\[\d+s\] … Cloud project: waits for the operation\n/);
      expect(stderr).to.match(/\[\d+s\] ✓ VM jumpbox \(41s\) {2}10\.10\.0\.2\n/);
      expect(stderr).to.match(/How long each took\n {2}VM jumpbox +41s\n {2}Cloud project +3\.2s\n/);
      expect(stderr).to.include('Warning: --registry-user');
      expect(stdout + stderr).to.not.include('\u001b');
    });

    it('say no times without --timer, and no calls without --verbose', async () => {
      const { stderr } = await run([...bootstrap, ...five]);
      expect(stderr).to.not.match(/41s|How long|GET \//);
      service.events = [
        ...service.events.slice(0, 2),
        { schema: 1, type: 'call', at: '2026-01-31T12:00:00Z', instance: 'project', text: 'POST projects' },
        ...service.events.slice(2),
      ];
      const verbose = await run(['--verbose', ...bootstrap, ...five]);
      expect(verbose.stderr)
        .to.match(/GET \/bootstraps\/b-one\/events: 200 in/)
        .and.include('Cloud project: POST projects');
    });

    it('are with --json one event a line and a last result', async () => {
      const { code, stdout } = await run([...bootstrap, ...five, '--json', '--timer']);
      const all = lines(stdout);
      expect(code).to.equal(0);
      expect(all.map(({ type }) => type)).to.deep.equal([
        'state',
        'progress',
        'instance',
        'instance',
        'state',
        'result',
      ]);
      const result = all.at(-1);
      expect(result).to.include({ exitCode: 0, created: true });
      expect(result).to.have.nested.property('bootstrap.projectId', 'demo-ab12cd34');
      expect(result).to.have.nested.property('timings[0].instance', 'vm:jumpbox');
      expect(result).to.have.nested.property('files').with.lengthOf(3);
      expect(result).to.have.nested.property('warnings').with.lengthOf(1);
    });

    it('are with --json lines of JSON of which just the last is a result, for every command and whatever happens', async () => {
      service.standing = true;
      const given = [
        ...commands.map((command) => [
          ...command.words.split(' '),
          ...command.takes.map((name) => words[name]),
          ...(command.flags?.organization === undefined ? [] : ['--organization', words.organization]),
          ...(command.flags?.follow === undefined ? [] : ['--follow']),
        ]),
        [...bootstrap, ...five],
        [...bootstrap, 'no-command'],
        ['org', 'add-member'],
        [],
      ];
      const judge = async (args: readonly string[]): Promise<void> => {
        const { code, stdout } = await run([...args, '--json']);
        const all = lines(stdout);
        expect(
          all.flatMap(({ type }, i) => (type === 'result' ? [i] : [])),
          args.join(' '),
        ).to.deep.equal([all.length - 1]);
        expect(all.at(-1)).to.have.property('exitCode', code);
        if (code !== 0) expect(all.at(-1)).to.have.nested.property('problem.code');
      };
      for (let i = 0; i < given.length; i += 4) await Promise.all(given.slice(i, i + 4).map(judge));
    }).timeout(120_000);

    it('come, with their exit code, also when nobody listens to the rest', async () => {
      const ends: unknown[] = [];
      for (const view of [makeView(), failedView()]) {
        service.view = view;
        const started = sandbox.spawn([...bootstrap, ...five, '--verbose']);
        started.child.stderr?.destroy();
        const { code, stdout } = await started.ended;
        ends.push([code, stdout.includes('Project')]);
      }
      expect(ends).to.deep.equal([
        [0, true],
        [7, true],
      ]);
    });

    it('show what a resume changes', async () => {
      service.instead.set('POST /bootstraps', [
        (response) =>
          json(response, 200, {
            bootstrap: makeView({ state: 'running' }),
            created: false,
            changes: [{ option: '--project-ttl', from: '2h', to: '5h' }],
            warnings: ['the deadline has moved'],
          }),
      ]);
      const { stderr } = await run([...bootstrap, ...five]);
      expect(stderr)
        .to.include('Going on with demo')
        .and.include('--project-ttl: 2h → 5h')
        .and.include('Warning: the deadline has moved');
    });

    it('look at the file of --remote-cli-binary before anything is asked for', async () => {
      sandbox.write('script', '#!/bin/sh\n');
      for (const [path, why] of [
        ['script', 'script: is a script, not a Linux amd64 executable'],
        ['nowhere', 'nowhere: there is no such file'],
        ['.', '.: it is a folder'],
      ]) {
        const { code, stderr } = await run([...bootstrap, ...five, '--remote-cli-binary', path as string]);
        expect([code, stderr.includes(`--remote-cli-binary ${why}`)], stderr).to.deep.equal([2, true]);
      }
      expect(service.seen).to.deep.equal([]);
    });

    it('print with --dry-run what would be made, and touch nothing', async () => {
      service.instead.set('POST /bootstraps', [(response) => json(response, 200, planReply())]);
      const { code, stdout } = await run([...bootstrap, ...five, '--dry-run']);
      expect(code).to.equal(0);
      expect(stdout.replaceAll(/ +$/gm, '')).to.equal(
        [
          '  ACTION  WHAT           THINGS',
          '  keep    Cloud project  project demo-????????',
          '  make    Network        VPC',
          '                         subnet',
          '',
          'Secrets',
          '  make  --forge1-app-client-secret',
          '',
          'Options',
          '  --project-ttl  2h → 3h',
          '',
          'Cost: about 2.47 USD until it is removed, 1.23 USD an hour; 1.50 USD saved by spot if there is capacity (estimate, oldest price of 2026-01-01)',
          `Plan: ${planReply().plan.hash}`,
          '',
        ].join('\n'),
      );
      expect(service.seen.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
        'POST /bootstraps?dryRun=true',
      ]);
      expect(sandbox.has('config.yaml')).to.equal(false);
    });

    it('write a plan with --plan, send its hash with --apply, and take no other file for it', async () => {
      service.instead.set('POST /bootstraps', [(response) => json(response, 200, planReply())]);
      const written = await run([...bootstrap, ...five, '--plan', 'plan.json']);
      expect(written.code, written.stderr).to.equal(0);
      expect(written.stdout).to.include('plan.json. --apply carries it out.');
      const text = sandbox.read('plan.json');
      expect(text).not.to.include('app-secret');
      service.seen.length = 0;
      expect((await run([...bootstrap, ...five, '--apply', 'plan.json'])).code).to.equal(0);
      expect(service.request()).to.include({ plan: planReply().plan.hash });
      service.seen.length = 0;
      sandbox.write('plan.json', text.replace('subnet', 'another'));
      for (const [file, why] of [
        ['plan.json', 'does not fit its hash'],
        ['none.json', 'there is no such file'],
      ]) {
        const { code, stderr } = await run([...bootstrap, ...five, '--apply', file as string]);
        expect([code, stderr.includes(why as string)], stderr).to.deep.equal([2, true]);
      }
      const both = await run([...bootstrap, ...five, '--apply', 'plan.json', '--dry-run']);
      expect([both.code, both.stderr.includes('neither --dry-run nor --plan')]).to.deep.equal([2, true]);
      expect(service.seen).to.deep.equal([]);
    });

    it('are with --dry-run what the flags say where nobody answers, with exit code 6 and no hash', async () => {
      const away = { PLINTH_ENDPOINT: 'http://127.0.0.1:9' };
      const { code, stdout, stderr } = await run([...bootstrap, ...five, '--dry-run', '--spot-vms'], away);
      expect(code).to.equal(6);
      expect(stdout)
        .to.match(/--spot-vms +true/)
        .and.match(/--region +europe-west4/)
        .and.match(/Secrets\n +--forge1-app-client-secret/)
        .and.not.include('app-secret\n')
        .and.not.include('Plan:');
      expect(stderr).to.include('cannot be reached').and.include('This dry run knows only the flags');
      const data = lines((await run([...bootstrap, ...five, '--dry-run', '--json'], away)).stdout).at(-1);
      expect(data)
        .to.deep.include({ exitCode: 6, dryRun: true, offline: true, secrets: ['--forge1-app-client-secret'] })
        .and.not.have.property('plan');
      const written = await run([...bootstrap, ...five, '--plan', 'offline.json'], away);
      expect([written.code, written.stdout, sandbox.has('offline.json')]).to.deep.equal([6, '', false]);
    });

    it('apply no plan with --recover-config where the record is lost', async () => {
      service.instead.set('POST /bootstraps', [(response) => json(response, 200, planReply())]);
      await run([...bootstrap, ...five, '--plan', 'recover.json']);
      const recover = [...bootstrap, ...five, '--apply', 'recover.json', '--recover-config'];
      const lost = await run(recover);
      expect([lost.code, lost.stderr.includes('only where plinth has its record')], lost.stderr).to.deep.equal([
        2,
        true,
      ]);
    });

    it('say of a failed bootstrap what, why and what next, with exit code 7', async () => {
      service.view = failedView();
      const { code, stdout, stderr } = await run([...bootstrap, ...five]);
      expect(code).to.equal(7);
      expect(stderr)
        .to.include('Quota: CPUS: 100 are needed, 24 are allowed.')
        .and.include('Ask for a higher quota.')
        .and.include('same command again');
      expect(stdout).to.include('failed');
      expect(stdout).not.to.include('CPUS');
      const last = lines((await run([...bootstrap, ...five, '--json'])).stdout).at(-1);
      expect(last)
        .to.include({ type: 'result', exitCode: 7 })
        .and.have.nested.property('problem.code', 'bootstrap-failed');
    });

    it('say once that the same command goes on', async () => {
      service.view = failedView('Raise the quota, then run the same command again.');
      const { stderr } = await run([...bootstrap, ...five]);
      expect(stderr.match(/run the same command again/gi)).to.have.lengthOf(1);
    });

    it('tell nobody who wants no files how to get them', async () => {
      const { stdout } = await run([...bootstrap, ...five, '--write-config=false']);
      expect(stdout).to.include('bootstrap-cloud ssh demo').and.not.include('writes config');
    });
  });

  describe('exit codes', () => {
    it('that problems have are all documented', () => {
      const exits = Object.values(problemKinds).map(({ exit }) => exit);
      expect(exitCodes.map(({ code }) => code)).to.include.members(exits);
    });

    // One of each: the rest is the table.
    const codes = Object.keys(problemKinds) as ProblemCode[];
    const first = codes.filter(
      (code, i) => codes.findIndex((other) => problemKinds[other].exit === problemKinds[code].exit) === i,
    );
    for (const code of first) {
      const { exit } = problemKinds[code];
      it(`${code} ends with ${exit}`, async () => {
        service.instead.set('POST /bootstraps', [
          refuse(code, 'It is so.', {
            advice: 'Do otherwise.',
            errors: [{ path: '--region', message: 'must differ' }],
          }),
        ]);
        const ran = await run([...bootstrap, ...five]);
        expect(ran.code).to.equal(exit);
        expect(ran.stderr).to.include('It is so.').and.include('--region must differ').and.include('Do otherwise.');
      });
    }

    it('130 with Ctrl-C, which says that something goes on only of what was begun', async () => {
      service.instead.set('GET /bootstraps', [() => undefined]);
      const started = sandbox.start([...bootstrap, 'list', '--json']);
      while (service.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      started.interrupt();
      const { code, stdout, stderr } = await started.ended;
      expect(code).to.equal(130);
      expect(stdout).to.include('"code":"interrupted"');
      expect(stderr).to.not.include('goes on');
    });

    it('6 when plinth cannot be reached, with the endpoint named', async () => {
      const { code, stderr } = await run([...bootstrap, 'cancel', 'demo', '--endpoint', 'https://plinth.invalid']);
      expect(code).to.equal(6);
      expect(stderr).to.include('plinth at https://plinth.invalid cannot be reached');
    });

    it('3 without a token or credentials, with what to set', async () => {
      const { PLINTH_TOKEN: _, ...env } = sandbox.env;
      sandbox.env = { ...env, GOOGLE_APPLICATION_CREDENTIALS: '/no/such/file.json' };
      const { code, stderr } = await sandbox.spawn([...bootstrap, 'list']).ended;
      expect(code).to.equal(3);
      expect(stderr).to.include('PLINTH_TOKEN').and.include('GOOGLE_APPLICATION_CREDENTIALS');
    });
  });

  describe('status, cancel, list', () => {
    it('show what stands', async () => {
      service.standing = true;
      const { code, stdout } = await run([...bootstrap, 'status', 'demo']);
      expect(code).to.equal(0);
      expect(stdout).to.include('demo-ab12cd34').and.include('jumpbox');
      expect(service.seen[0]?.path).to.equal('/bootstraps?name=demo');
      const followed = await run([...bootstrap, 'status', 'demo', '--follow', '--timer']);
      expect(followed.stderr).to.include('✓ VM jumpbox (41s)');
      const listed = await run([...bootstrap, 'list']);
      expect(listed.stdout)
        .to.match(/NAME +PROJECT +STATE/)
        .and.match(/demo +demo-ab12cd34 +succeeded .* ~0\.50 USD/);
      const cancelled = await run([...bootstrap, 'cancel', 'demo']);
      expect(cancelled.stdout).to.include('stops as soon as').and.include('status demo --follow');
    });

    it('say what is under way', async () => {
      service.standing = true;
      const [project, jumpbox] = makeView().instances;
      if (project === undefined || jumpbox === undefined) throw new Error('makeView has two instances');
      service.view = makeView({
        state: 'running',
        instances: [project, { ...jumpbox, state: 'running', note: 'the VM is starting' }],
      });
      const { stdout } = await run([...bootstrap, 'status', 'demo']);
      expect(stdout)
        .to.include('Under way (1 of 2 done)')
        .and.match(/VM jumpbox +the VM is starting/)
        .and.include('status demo --follow');
    });

    it('say what failed, why, and what to do', async () => {
      service.standing = true;
      service.view = failedView();
      const { code, stdout } = await run([...bootstrap, 'status', 'demo']);
      expect(code).to.equal(0);
      expect(stdout)
        .to.match(/Quota +CPUS: 100 are needed, 24 are allowed\./)
        .and.include('Ask for a higher quota.')
        .and.include('same bootstrap-cloud command again');
    });

    it('end with 4 for a project that one does not have', async () => {
      for (const command of ['status', 'cancel']) {
        const { code, stderr } = await run([...bootstrap, command, 'none']);
        expect(code).to.equal(4);
        expect(stderr).to.include('"none"').and.include('list');
      }
    });

    it('ask again when the service is away for a moment', async () => {
      const away = () => refuse('unavailable', 'Away.', { retryAfterSeconds: 0 });
      service.instead.set('GET /bootstraps', [away(), away()]);
      const { code, stderr } = await run([...bootstrap, 'list', '--verbose']);
      expect(code).to.equal(0);
      expect(stderr.match(/again in \d+ ms: Away\./g)).to.have.lengthOf(2);
    });
  });
});
