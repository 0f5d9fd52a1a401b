/** Files that a user gives are known before the start: what cannot be read is refused with file, line and column, in one way by all commands. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { bootstrap, createSandbox, five, type Sandbox } from './run-cli.js';
import { createService, json, type Service } from './service.js';

const good = [
  'project-name: demo',
  'billing-account: 012345-6789AB-CDEF01',
  'base-domain: demo.example.com',
  'forge1-app-client-id: client',
  'forge1-app-client-secret: {env: APP_SECRET}',
].join('\n');

interface Case {
  readonly what: string;
  readonly text: string | Buffer;
  readonly told: RegExp;
}

const unreadable: readonly Case[] = [
  { what: 'a tab', text: `${good}\nfeature-flags:\n\t- one\n`, told: /plinth\.yaml:7 .*tab.* column 1\b/ },
  {
    what: 'a key twice',
    text: `zone: a\n${good}\nzone: b\n`,
    told: /plinth\.yaml:7 .*a key stands twice, at column 1\b/,
  },
  {
    what: 'two documents',
    text: `${good}\n---\nzone: b\n`,
    told: /plinth\.yaml:6 .*a second document begins, at column 1\b/,
  },
  { what: 'UTF-16', text: Buffer.from(`\uFEFF${good}\n`, 'utf16le'), told: /plinth\.yaml:1 .*UTF-16/ },
  {
    what: 'UTF-16 without a mark, the other way round',
    text: Buffer.from(`${good}\n`, 'utf16le').swap16(),
    told: /plinth\.yaml:1 .*UTF-16/,
  },
  {
    what: 'another encoding',
    text: Buffer.from(`${good}\n# caf\u00e9\n`, 'latin1'),
    told: /plinth\.yaml:6 is not UTF-8, at column 6\b/,
  },
  { what: 'a NUL', text: `${good}\nzone: "\0"\n`, told: /plinth\.yaml:6 .*NUL.* column 8\b/ },
  {
    what: 'more than plinth reads',
    text: `# ${'x'.repeat(1024 * 1024)}\n${good}\n`,
    told: /plinth\.yaml.* larger than 1 MiB/,
  },
];

describe('a file that a user gives', () => {
  let service: Service;
  let sandbox: Sandbox;
  const writers: ChildProcess[] = [];
  beforeEach(async () => {
    service = await createService();
    sandbox = createSandbox(service.url);
    sandbox.env['APP_SECRET'] = 'planted-secret-4711';
  });
  afterEach(async () => {
    for (const writer of writers.splice(0)) writer.kill('SIGKILL');
    sandbox.remove();
    await service.close();
  });
  /** What reads it without looking at it first gets nothing, after a while. */
  const pipe = (path: string) => {
    execFileSync('mkfifo', [path]);
    writers.push(spawn('sh', ['-c', 'sleep 1; : > "$0"', path], { stdio: 'ignore' }));
  };
  const refused = async (args: readonly string[], ...told: readonly RegExp[]) => {
    service.instead.set('POST /preflights', [(response) => json(response, 200, { go: true, findings: [] })]);
    const { code, stdout, stderr } = await sandbox.run(args);
    expect(code, stderr).to.equal(2);
    for (const text of told) expect(stdout + stderr).to.match(text);
    expect(stdout + stderr).not.to.match(/is required|is needed|inside plinth|ENO|EIS|EACC/);
    expect(service.seen.filter(({ method, path }) => method === 'POST' && path === '/bootstraps')).to.deep.equal([]);
  };

  describe('as plinth.yaml', () => {
    for (const { what, text, told } of unreadable) {
      it(`is refused by each command that reads it, with ${what} alone as its fault`, async () => {
        writeFileSync(sandbox.path('plinth.yaml'), text);
        for (const args of [
          ['up', '--yes'],
          ['up', '--check'],
          ['up', '--dry-run'],
          ['down', '--yes'],
        ]) {
          await refused(args, told);
        }
      });
    }

    it('is refused where it is a folder or a pipe', async () => {
      mkdirSync(sandbox.path('plinth.yaml'));
      await refused(['up', '--yes'], /plinth\.yaml.* it is a folder/);
      pipe(sandbox.path('pipe.yaml'));
      await refused(['up', '--yes', '--file', 'pipe.yaml'], /pipe\.yaml.* it is no regular file/);
    });

    it('may begin with a byte order mark', async () => {
      writeFileSync(sandbox.path('plinth.yaml'), `\uFEFF${good}\n`);
      // Nothing is asked at this port, so that a run that gets so far ends there at once.
      const { code, stderr } = await sandbox.run(['up', '--yes'], { PLINTH_ENDPOINT: 'http://127.0.0.1:9' });
      expect([code, stderr.includes('http://127.0.0.1:9')], stderr).to.deep.equal([6, true]);
    });
  });

  describe('as a pipe', () => {
    const begin = [...bootstrap, ...five];
    const regular = /no regular file/;
    for (const [flag, args] of [
      ['--install-config', []],
      ['--secrets-file', []],
      ['--ssh-public-key-path', []],
      ['--ssh-private-key-path', []],
      ['--remote-cli-binary', []],
      ['--apply', []],
    ] as const) {
      it(`is refused as ${flag}, and not waited for`, async () => {
        pipe(sandbox.path('pipe'));
        for (const check of flag === '--apply' ? [[]] : [[], ['--check']]) {
          await refused([...begin, `${flag}=pipe`, ...args, ...check], regular, new RegExp(flag));
        }
      });
    }

    it('is refused as a list of people, and not waited for', async () => {
      pipe(sandbox.path('pipe'));
      await refused(['team', 'add-members', '7', '--file', 'pipe'], /--file .*no regular file/);
    });

    it('is refused as the config file and as what is read into it, and not waited for', async () => {
      pipe(sandbox.path('pipe'));
      await refused(['configure', '--from', 'pipe'], regular);
      mkdirSync(sandbox.configFolder, { recursive: true });
      pipe(`${sandbox.configFolder}/config.yaml`);
      delete sandbox.env['PLINTH_ENDPOINT'];
      await refused([...bootstrap, 'list'], /config\.yaml cannot be read: it is no regular file/);
    });
  });

  it('as the config file of plinth is refused with the line of each fault', async () => {
    mkdirSync(sandbox.configFolder, { recursive: true });
    const lines = ['endpoints: {api: 5, boot: x}', 'oauth:', '  clientId:', 'zone: a', 'endpoints2: [a]'];
    writeFileSync(`${sandbox.configFolder}/config.yaml`, `${lines.join('\n')}\n`);
    delete sandbox.env['PLINTH_ENDPOINT'];
    await refused(
      [...bootstrap, 'list'],
      /config\.yaml:1:endpoints\.api must be text/,
      /config\.yaml:1:endpoints\.boot is no setting of this file/,
      /config\.yaml:3:oauth\.clientId must be text/,
      /config\.yaml:4:zone is no setting of this file/,
      /config\.yaml:5:endpoints2 is no setting of this file/,
    );
  });

  describe('as config.yaml', () => {
    for (const [what, text, told] of [
      ['UTF-16', Buffer.from('\uFEFFbootstrap: {id: b-one}\n', 'utf16le'), /UTF-16/],
      ['another encoding', Buffer.from('name: caf\u00e9\n', 'latin1'), /not UTF-8, at line 1, column 10/],
      ['two documents', 'a: 1\n---\nb: 2\n', /second document begins, at line 2, column 1/],
      ['more than plinth reads', `a: "${'\u00e9'.repeat(300 * 1024)}"\n`, /larger than 400 KiB/],
    ] as const) {
      it(`is refused with ${what}, by the run and by --check`, async () => {
        writeFileSync(sandbox.path('config.yaml'), text);
        await refused([...bootstrap, ...five], /--install-config config\.yaml/, told);
        await refused([...bootstrap, ...five, '--check'], /--install-config config\.yaml/, told);
      });
    }
  });
});
