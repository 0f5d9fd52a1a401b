/** Planted secrets turn up in the encrypted file and in Secret Manager, and nowhere else: not even when things go wrong. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { collections } from '../../shared/names.js';
import { type Caller, clientSecret, makeScene, type Outcome, outcomeOf, type Scene } from '../support/scene.js';

const planted: Readonly<Record<string, string>> = {
  PLINTH_FORGE2_APP_CLIENT_SECRET: 'planted-forge2-secret-1234',
  PLINTH_OIDC_CLIENT_SECRET: 'planted-oidc-secret-5678',
  PLINTH_VAULT_PASSWORD: 'planted vault "password" \\ 9012',
  PLINTH_EXTERNAL_LOGSTORE_SECRET: 'planted-logstore-secret-3456',
  PLINTH_METRICS_REMOTE_WRITE_PASSWORD: 'planted-metrics-password-7890',
  PLINTH_CENTRAL_OTEL_PASSWORD: 'planted-otel-password-2345',
};
const flags = {
  'forge2-app-client-id': 'id2',
  'oidc-client-id': 'oidc',
  'oidc-issuer-url': 'https://login.example.com',
  'vault-uri': 'https://vault.example.com',
  'external-logstore-endpoint': 'https://logs.example.com',
  'external-logstore-user': 'logs',
  'metrics-remote-write-url': 'https://metrics.example.com',
  'metrics-remote-write-user': 'metrics',
  'central-otel-endpoint': 'https://otel.example.com',
  'central-otel-username': 'otel',
  'forge1-team-org': 'example',
  'forge1-team-slug': 'platform',
  verbose: true,
} as const;

/** The parent of a process; the field after its name in parentheses and its state. */
const parentOf = (pid: string): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) \S /s, '')
    .split(' ')[0] ?? '';

/** Others' processes may be at work on the same machine. */
function isOurs(pid: string): boolean {
  for (let each = pid; each !== '0' && each !== ''; each = parentOf(each))
    if (each === String(process.pid)) return true;
  return false;
}

/** Looks at all that this process has started until it is called; where the system does not tell, there is nothing. */
function watchArguments(): () => readonly string[] {
  const seen = new Set<string>();
  const look = (): void => {
    if (!existsSync('/proc/self/cmdline')) return;
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        if (isOurs(pid)) seen.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      } catch {
        // It has just ended.
      }
    }
  };
  const timer = setInterval(look, 50);
  return () => {
    clearInterval(timer);
    return [...seen];
  };
}

describe('secrets', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  const outcomes: Outcome[] = [];
  let argumentLists: readonly string[] = [];
  const values = [clientSecret, forge1Pat, ...Object.values(planted)];

  /** As they are, as JSON would write them, and in base64. */
  const leaksIn = (text: string): string[] =>
    values.filter((value) =>
      [value, JSON.stringify(value).slice(1, -1), Buffer.from(value).toString('base64').replace(/=+$/, '')].some(
        (form) => text.includes(form),
      ),
    );

  before(async () => {
    scene = await makeScene();
    const caller = await scene.caller();
    Object.assign(caller.env, planted, { PLINTH_FORGE1_PAT: forge1Pat });
    alice = caller;
    // Once with failures of many kinds, so that errors are told as well; then to its end.
    const { faults } = scene.cloud;
    faults.add({ method: 'secretmanager.projects.secrets.addVersion', nth: 5, times: 2, kind: 'unavailable' });
    faults.add({
      method: 'compute.instances.insert',
      times: 0,
      code: 400,
      reason: 'invalid',
      message: 'no such thing',
    });
    outcomes.push(await alice.bootstrap('leaky', flags));
    faults.clear();
    // As a process of its own, which others on the machine see.
    const watching = watchArguments();
    outcomes.push(outcomeOf(await alice.spawn('leaky', flags).ended));
    argumentLists = watching();
  });
  after(() => scene?.close());

  it('fails first and succeeds then', () => {
    expect(outcomes.map(({ exitCode }) => exitCode)).to.deep.equal([7, 0]);
  });

  it('arrive where they belong: in the encrypted file', async () => {
    const text = JSON.stringify((await alice.secrets()).secrets);
    const expected = values.filter((value) => value !== planted['PLINTH_CENTRAL_OTEL_PASSWORD'] && value !== forge1Pat);
    for (const value of expected) expect(text).to.include(JSON.stringify(value).slice(1, -1));
  });

  it('appear in no document of the store', async () => {
    const store = scene.stack.functionsHalf?.store;
    let seen = 0;
    for (const collection of Object.values(collections)) {
      for (const { id, data } of (await store?.query({ collection })) ?? []) {
        seen += 1;
        expect(leaksIn(JSON.stringify(data)), `${collection}/${id}`).to.deep.equal([]);
      }
    }
    expect(seen).to.be.greaterThan(20);
  });

  it('appear in no log line, and not in what the deliveries and the scheduler had to say', () => {
    const { logs, notes } = scene.stack;
    expect(logs.length).to.be.greaterThan(50);
    expect([...logs, ...notes].filter((line) => leaksIn(line).length > 0)).to.deep.equal([]);
  });

  it('appear in no event, error or result that the command line shows, not even with --verbose', () => {
    for (const { stdout, stderr } of outcomes) {
      expect(leaksIn(stdout)).to.deep.equal([]);
      expect(leaksIn(stderr)).to.deep.equal([]);
    }
  });

  it('appear in the simulated cloud in Secret Manager alone', () => {
    const { tables } = scene.cloud.state() as { tables: Record<string, unknown> };
    const holding = Object.entries(tables)
      .filter(([, table]) => leaksIn(JSON.stringify(table)).length > 0)
      .map(([name]) => name);
    expect(
      holding.every((name) => name.startsWith('secretmanager')),
      holding.join(', '),
    ).to.equal(true);
    expect(leaksIn(JSON.stringify(scene.cloud.calls.list()))).to.deep.equal([]);
  });

  it("appear in no file on the caller's disk in the clear", () => {
    const files = readdirSync(alice.folder, { recursive: true, encoding: 'utf8' }).map((file) =>
      join(alice.folder, file),
    );
    for (const file of files.filter((each) => statSync(each).isFile())) {
      expect(leaksIn(readFileSync(file, 'utf8')), file).to.deep.equal([]);
    }
  });

  it('appear in no argument list of any process', function () {
    if (argumentLists.length === 0) this.skip();
    expect(argumentLists.some((list) => list.includes('bootstrap-cloud'))).to.equal(true);
    expect(argumentLists.filter((list) => leaksIn(list).length > 0)).to.deep.equal([]);
  });

  it('are named by flag and not shown when they are faulty', async () => {
    const bob = await scene.caller('bob@example.com');
    Object.assign(bob.env, { PLINTH_FORGE1_PAT: 'planted-wrong-token-9' });
    const refused = await bob.bootstrap('leaky-two', { 'forge1-team-org': 'example', 'forge1-team-slug': 'platform' });
    expect(refused.exitCode).to.equal(2);
    expect(`${refused.stdout}${refused.stderr}`).to.include('--forge1-pat').and.not.to.include('planted-wrong-token-9');
    expect(scene.stack.logs.join('\n')).not.to.include('planted-wrong-token-9');
  });
});
