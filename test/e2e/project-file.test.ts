/** `plinth up` and `plinth down` with a plinth.yaml, against the local stack. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { callerEnvironment } from '../../local/demo/plinth-process.js';
import { local } from '../../local/stack/deployment.js';
import { runAt, startHere } from '../support/plinth-here.js';
import { type Caller, clientSecret, domainOf, makeScene, outcomeOf, type Scene } from '../support/scene.js';

const secretVariable = 'PLINTH_FORGE1_APP_CLIENT_SECRET';
type Keys = Readonly<Record<string, unknown>>;

const keysOf = (name: string, more: Keys = {}): Keys => ({
  'project-name': name,
  'billing-account': local.billingAccount,
  'base-domain': domainOf(name),
  'forge1-app-client-id': 'client-id',
  'forge1-app-client-secret': { env: secretVariable },
  'registry-user': 'somebody',
  ...more,
});

describe('plinth up and plinth down', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  before(async () => {
    scene = await makeScene();
    alice = await scene.caller();
  });
  after(() => scene?.close());

  /** A folder of its own for each project, as people have it. */
  const folderWith = (name: string, more?: Keys, file = 'plinth.yaml') => {
    const folder = join(alice.folder, name);
    mkdirSync(folder);
    writeFileSync(join(folder, file), stringify(keysOf(name, more)));
    return folder;
  };
  const at = (folder: string) => ({ folder, env: callerEnvironment({ folder: alice.folder, env: alice.env }) });
  const run = (folder: string, ...args: string[]) => runAt(args, at(folder));
  const onTerminal = (folder: string, ...args: string[]) => {
    const started = startHere(args, { ...at(folder), terminal: { rows: 40, columns: 160 } });
    let heard = (): void => undefined;
    started.onText(() => heard());
    /** Waits for a question, and fails if the command ends without it. */
    const saw = (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        heard = () => pattern.test(started.stdout()) && resolve();
        heard();
        void started.ended.then(({ stdout }) => reject(new Error(`it ended before ${pattern}:\n${stdout}`)), reject);
      });
    return { ...started, saw };
  };
  const projects = () => Object.keys(scene.cloud.world.table('projects')).length;

  it('take what plinth init asked for, show plan and price, ask once, make it, go on without a question, and remove it', async () => {
    const folder = join(alice.folder, 'from-init');
    mkdirSync(folder);
    const asking = onTerminal(folder, 'init');
    const answers: [question: RegExp, text: string][] = [
      [/Name of the project \[from-init\]: $/, ''],
      [
        /1 {2}01AB23-45CD67-89EF01\n +2 {2}\S+\nBilling account that pays \(or its number\) \[01AB23-45CD67-89EF01\]: $/,
        '2',
      ],
      [/Domain of the platform: $/, 'no domain'],
      [/It must be a domain name such as example\.com\.\nDomain of the platform: $/, domainOf('from-init')],
      [/\[the deployment's own, folders\/\d+\]: $/, ''],
      [/Zone of the machines \[europe-west4-a\]: $/, 'europe-west4-b'],
      [/1 {2}standing-dns-local\/standing\nDNS zone, .*\[one in the new project\]: $/, ''],
      [/How long the project lives \[2h\]: $/, '3h'],
      [/Your user at the forge1 image registry: $/, ''],
      [/It is needed\.\nYour user at the forge1 image registry: $/, 'somebody'],
      [/Client ID of the forge1 app: $/, 'client-id'],
      [/Version of the platform to install \[none: cloud resources alone\]: $/, ''],
    ];
    for (const [question, text] of answers) {
      await asking.saw(question);
      asking.type(`${text}\n`);
    }
    const asked = await asking.ended;
    expect(asked.exitCode, asked.stdout).to.equal(0);
    expect(asked.stdout).to.include('Written: plinth.yaml, plinth.schema.json. Next: plinth up.');
    expect(parse(readFileSync(join(folder, 'plinth.yaml'), 'utf8'))).to.deep.equal({
      ...keysOf('from-init', {
        'billing-account': local.otherBillingAccount,
        zone: 'europe-west4-b',
        'project-ttl': '3h',
      }),
    });

    const started = onTerminal(folder, 'up');
    await started.saw(/Make it\? \[y\/N\] $/);
    expect(started.stdout())
      .to.match(/make +VM k0s-1/)
      .and.to.match(/Cost: about [\d.]+ USD until it is removed/)
      .and.to.match(/Not known yet \(\d+\)[\s\S]*project-quota[\s\S]*Make it\?/);
    started.type('y\n');
    const made = await started.ended;
    expect(made.exitCode, made.stdout).to.equal(0);
    expect(made.stdout.split('Make it?')).to.have.length(2);

    const again = onTerminal(folder, 'up');
    const kept = await again.ended;
    expect(kept.exitCode, kept.stdout).to.equal(0);
    expect(kept.stdout)
      .to.match(/\d+ of \d+ steps are done, and are kept/)
      .and.to.include('Going on with from-init');

    appendFileSync(join(folder, 'plinth.yaml'), 'zoen: of which down takes no notice\n');
    const going = onTerminal(folder, 'down');
    await going.saw(/Type the name of the project to remove it: $/);
    going.type('from-init\n');
    const gone = await going.ended;
    expect(gone.exitCode, gone.stdout).to.equal(0);
    expect(gone.stdout).to.include('from-init is removed.');
    const twice = await run(folder, 'down');
    expect([twice.exitCode, twice.stdout]).to.deep.equal([0, 'from-init is removed already.\n']);

    const next = join(alice.folder, 'the-next');
    mkdirSync(next);
    const written = await run(next, 'init', '--yes', '--zone', 'europe-west4-c');
    expect(written.exitCode, written.stderr).to.equal(0);
    expect(parse(readFileSync(join(next, 'plinth.yaml'), 'utf8'))).to.deep.equal({
      ...keysOf('the-next', {
        'billing-account': local.otherBillingAccount,
        zone: 'europe-west4-c',
        'project-ttl': '3h',
      }),
    });
  });

  it('make nothing where one does not agree, or there is nobody to ask', async () => {
    const before = projects();
    const folder = folderWith('refused');
    const started = onTerminal(folder, 'up');
    await started.saw(/Make it\? \[y\/N\] $/);
    started.type('n\n');
    const ended = await started.ended;
    expect([ended.exitCode, ended.stdout.includes('You did not agree; nothing was made.')]).to.deep.equal([2, true]);
    const piped = await run(folder, 'up');
    expect([piped.exitCode, piped.stderr.includes('--yes is needed here')]).to.deep.equal([2, true]);
    expect(projects()).to.equal(before);
  });

  it('ask nothing where something stops it, and name the line of the file', async () => {
    const before = projects();
    const folder = folderWith('stopped', { 'billing-account': 'AAAAAA-BBBBBB-CCCCCC', region: 'europe-nowhere1' });
    const line = (key: string) =>
      readFileSync(join(folder, 'plinth.yaml'), 'utf8')
        .split('\n')
        .findIndex((each) => each.startsWith(`${key}:`)) + 1;
    const ended = await onTerminal(folder, 'up').ended;
    expect(ended.exitCode, ended.stdout).to.not.equal(0);
    expect(ended.stdout)
      .to.include(`plinth.yaml:${line('billing-account')}:billing-account `)
      .and.include(`plinth.yaml:${line('region')}:region `)
      .and.not.include('Make it?');
    expect(projects()).to.equal(before);
  });

  it('let flags go before the file, and show a plan without making it', async () => {
    const before = projects();
    const folder = folderWith('flagged', { 'project-ttl': '1h', 'spot-vms': false });
    const shown = await run(folder, 'up', '--dry-run', '--json', '--project-ttl', '3h', '--spot-vms');
    expect(shown.exitCode, shown.stderr).to.equal(0);
    const { plan } = outcomeOf(shown).result as unknown as { plan: { values: Record<string, string> } };
    expect(plan.values).to.include({ '--project-ttl': '3h', '--spot-vms': 'true', '--datacenter-name': 'dev' });
    expect(projects()).to.equal(before);
  });

  it('read a secret from a file beside theirs, from Secret Manager as the caller, and never show it', async () => {
    const { accessToken } = await scene.stack.tokens(`admin@${local.domain}`);
    const secrets = `${scene.stack.record.endpoints.secretmanager}/v1/projects/${local.project}/secrets`;
    const ask = async (path: string, body: unknown) => {
      const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
      const reply = await fetch(`${secrets}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(reply.status, await reply.clone().text()).to.equal(200);
    };
    await ask('?secretId=of-alice', { replication: { automatic: {} } });
    await ask('/of-alice:addVersion', { payload: { data: Buffer.from('from-the-manager').toString('base64') } });
    const name = `projects/${local.project}/secrets/of-alice`;
    const folder = folderWith('managed', {
      'forge1-app-client-secret': { file: 'client-secret' },
      'forge1-pat': { secretManager: name },
    });
    writeFileSync(join(folder, 'client-secret'), `${clientSecret}\n`);
    const { [secretVariable]: _, ...without } = at(alice.folder).env;
    const up = () =>
      runAt(['up', '--dry-run', '--file', 'managed/plinth.yaml'], { folder: alice.folder, env: without });
    const refused = await up();
    expect(refused.exitCode).to.equal(2);
    expect(refused.stderr).to.match(
      /managed\/plinth\.yaml:\d+:forge1-pat is in Secret Manager as \S+, which cannot be read: Permission/,
    );
    const member = `user:${alice.email}`;
    await ask('/of-alice:setIamPolicy', {
      policy: { bindings: [{ role: 'roles/secretmanager.secretAccessor', members: [member] }] },
    });
    const shown = await up();
    expect(shown.exitCode, shown.stderr).to.equal(0);
    expect(shown.stdout)
      .to.match(/make +--forge1-app-client-secret/)
      .and.to.match(/make +--forge1-pat/);
    expect(shown.stdout + shown.stderr)
      .to.not.include(clientSecret)
      .and.not.include('from-the-manager');
  });
});
