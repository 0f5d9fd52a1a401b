/**
 * Bad input by chance, over the command line and over HTTP, against the stack that `npm run local` starts: nothing is made or
 * changed, nothing answers 5xx, and every refusal names its flags and fields. PLINTH_TEST_SECONDS=3600 makes it an hour.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { functionUrl, local } from '../../local/stack/deployment.js';
import { schedulerHeaders } from '../../local/stack/front-end.js';
import { flagName, flagOf, flags, isLocal, type Option, optionNames } from '../../shared/bootstrap/options.js';
import { collections, functionNames } from '../../shared/names.js';
import { testKey } from '../cli/run-cli.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, changesIn, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';
import { bySeed, searchFor } from '../support/search.js';

/** Where it is found out: by the values alone, by Google and others, or by what stands. */
type Level = 'itself' | 'asked' | 'standing';
interface Wrong {
  readonly option: Option;
  readonly level: Level;
  /** As JSON has it; on the command line it is written as text. */
  readonly value: unknown;
}

const long = 'x'.repeat(5000);
const byKind: Readonly<Record<string, readonly unknown[]>> = {
  string: ['', long],
  int: [0, -1, 1.5, 2 ** 40],
  list: [['a\nb'], [long], Array(101).fill('a'), ['ok', '']],
  bool: [],
};
const own: Partial<Record<Option, readonly unknown[]>> = {
  projectName: ['abc', 'ünwritten', 'a\nbcd', '----'],
  billingAccount: ['0123', '-x', 'billingAccounts/'],
  baseDomain: ['localhost', 'a b.example.com', '-.example.com'],
  folderId: ['folders/x', '-7'],
  region: ['europe', 'EU-WEST4'],
  zone: ['europe-west4', 'a\u0000-b1-c'],
  projectTtl: ['7', '-2h', '2 h', '9999d', '1e3h'],
  customPgIp: ['10.0.0', '10.0.0.256', 'localhost'],
  kubeDistroVersion: ['1.31', 'latest', 'v1.31'],
  dnsProjectId: ['Some-Project', 'abc'],
  dnsZoneName: ['9zone', 'under_score'],
  clusterAdminEmail: ['nobody', 'a@', '@example.com'],
  registryType: ['forge9', 'FORGE1'],
  oidcIssuerUrl: ['ftp://id.example.com', 'id.example.com', 'https://'],
  vaultUri: ['vault', 'file:///etc/passwd'],
  secretsDir: ['relative', '/etc/../root', '/with space'],
  centralOtelEndpoint: ['http://', 'a b'],
  metricsRemoteWriteUrl: ['//metrics'],
};
/** On their own computer. */
const here: Partial<Record<Option, readonly unknown[]>> = {
  installLocal: ['not-there.tar.gz'],
  remoteCliBinary: ['/dev/null', '.'],
  pcAppsValues: [['not-there.yaml']],
  sshPrivateKeyPath: ['not-there'],
  sshPublicKeyPath: ['not-there.pub', '/dev/null'],
};
const forms = [7, true, null, {}, [], ['a', 1], '\ud800'];

const wrongOf = (option: Option): fc.Arbitrary<Wrong> => {
  const values = [...(byKind[flagOf(option).kind] ?? []), ...(own[option] ?? []), ...(here[option] ?? [])];
  return fc.constantFrom(...values).map((value) => ({ option, level: 'itself', value }));
};
const asked: readonly Wrong[] = [
  { option: 'billingAccount', level: 'asked', value: '0F0F0F-0F0F0F-0F0F0F' },
  { option: 'region', level: 'asked', value: 'nowhere-west1' },
  { option: 'forge1Pat', level: 'asked', value: 'a-token-of-nobody' },
];
const overStanding: readonly Wrong[] = [
  { option: 'baseDomain', level: 'standing', value: 'other.example.com' },
  { option: 'rootDiskSize', level: 'standing', value: 777 },
  { option: 'preemptible', level: 'standing', value: true },
  { option: 'customPgIp', level: 'standing', value: '10.9.8.7' },
];
const withValues = optionNames.filter((option) => flagOf(option).kind !== 'bool');
/** What is no flag, or not written as one. */
const strays = ['--nope', '--nope=1', 'stray', '--timer=maybe', '--no-region', '--registry-typ'];

const anyWrong = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...withValues).chain(wrongOf) },
  { weight: 2, arbitrary: fc.constantFrom(...asked) },
  { weight: 2, arbitrary: fc.constantFrom(...overStanding) },
);
const request = fc.record({
  door: fc.constantFrom('cli', 'http'),
  name: fc.constantFrom('fresh-name', 'stands', 'strangers'),
  wrong: fc.uniqueArray(anyWrong, { minLength: 1, maxLength: 6, selector: ({ option }) => option }),
  stray: fc.option(fc.constantFrom(...strays)),
  form: fc.option(fc.record({ option: fc.constantFrom(...withValues), value: fc.constantFrom(...forms) })),
  dryRun: fc.boolean(),
});
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;

/** A wrong form is told of by field. */
const bareName = (path: string): string => {
  const [option = ''] = path.replace('options.', '').split('.');
  return Object.hasOwn(flags, option) ? flagName(option as Option) : path;
};

describe(`bad input ${bySeed}`, function () {
  this.timeout(0);
  let scene: Scene;
  let alice: Caller;
  let token: string;
  before(async () => {
    scene = await makeScene();
    alice = await scene.caller();
    // An hour before their end a warning changes their records, and a search may last longer than that.
    const flags = { 'project-ttl': '12h' };
    succeeded(await alice.bootstrap('stands', flags));
    succeeded(await (await scene.caller(`bob@${local.domain}`)).bootstrap('strangers', flags));
    token = (await scene.stack.tokens(alice.email)).idToken;
    // What they cost is looked at once after their VMs were made, by the run of each minute. That changes their records, too.
    const { status } = await sweep();
    expect(status).to.equal(200);
  });
  after(() => scene?.close());

  async function sweep(): Promise<Response> {
    const url = functionUrl(scene.stack.url, functionNames.sweep);
    return fetch(url, { method: 'POST', headers: await schedulerHeaders(scene.cloud.identity, url) });
  }

  const records = async () => {
    const store = scene.stack.functionsHalf?.store ?? expect.fail('no functions');
    const kinds = [collections.bootstraps, collections.names, collections.counters];
    const found = await Promise.all(kinds.map((collection) => store.query({ collection })));
    return found.flat().map(({ id, version }) => `${id} ${version}`);
  };

  /** What the refusal must name. */
  const namesOf = ({ wrong, name }: Request, levels: readonly Level[]): string[] =>
    wrong
      .filter(({ level }) => levels.includes(level) && (level !== 'standing' || name === 'stands'))
      .map(({ option }) => flagName(option));
  interface Refusal {
    readonly detail: string;
    readonly errors?: readonly { readonly path: string }[];
  }

  async function overCli(each: Request): Promise<[Refusal, string[]]> {
    const given = each.wrong.flatMap(({ option, value }) =>
      [value].flat().map((text) => `${flagName(option)}=${String(text)}`),
    );
    const args = [...argsOf(each.name), ...given, ...(each.stray === null ? [] : [each.stray])];
    const ran = outcomeOf(await runAt(['beta', 'bootstrap-cloud', '--json', ...args], alice));
    expect(ran.exitCode, ran.stderr).to.be.oneOf([2, 4, 5, 8]);
    const mine = namesOf(each, ['itself']);
    const isHere = mine.length > 0 || each.stray !== null;
    return [ran.result.problem ?? expect.fail('no problem'), isHere ? mine : namesOf(each, ['asked', 'standing'])];
  }

  async function overHttp(each: Request): Promise<[Refusal, string[]]> {
    const wrong = each.wrong.filter(({ option }) => !isLocal(option));
    const options: Record<string, unknown> = {
      projectName: each.name,
      billingAccount: local.billingAccount,
      baseDomain: `${each.name}.${local.domain}`,
      forge1AppClientId: 'client-id',
      forge1AppClientSecret: 'planted-client-secret',
      ...Object.fromEntries(wrong.map(({ option, value }) => [option, value])),
    };
    if (each.form !== null) options[each.form.option] = each.form.value;
    const judged: readonly Level[] = each.dryRun ? ['itself'] : ['itself', 'asked', 'standing'];
    // Of a name that is wrong nothing is asked.
    const isNamed = [...wrong, each.form].every((one) => one?.option !== 'projectName');
    const levels = judged.filter((level) => level !== 'standing' || isNamed);
    const named = namesOf({ ...each, wrong }, levels).filter(
      (name) => each.form === null || name !== flagName(each.form.option),
    );
    // With nothing else that is wrong it would begin.
    if (each.stray !== null || named.length === 0) options['nope'] = each.stray;
    const reply = await fetch(`${scene.stack.url}/bootstraps${each.dryRun ? '?dryRun=true' : ''}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ options, sshPublicKey: testKey }),
    });
    const said = await reply.text();
    expect(reply.status, said).to.be.oneOf([400, 409, 403]);
    const refusal = JSON.parse(said) as Refusal;
    const errors = refusal.errors?.map(({ path }) => ({ path: path.startsWith('options.') ? bareName(path) : path }));
    return [{ ...refusal, ...(errors !== undefined && { errors }) }, named];
  }

  it('makes and changes nothing, and every refusal names its flags and fields', async () => {
    const standing = await records();
    const since = scene.cloud.calls.last();
    let tried = 0;
    await searchFor(
      fc.asyncProperty(request, async (each) => {
        // A change alone is no fault over a name that is new.
        const isWrong =
          each.stray !== null || each.wrong.some(({ level }) => level !== 'standing') || each.name !== 'fresh-name';
        fc.pre(each.door === 'http' || isWrong);
        const [refusal, named] = await (each.door === 'cli' ? overCli(each) : overHttp(each));
        tried += 1;
        const paths = (refusal.errors ?? []).map(({ path }) => path);
        expect(paths, refusal.detail).to.include.members(named);
        expect(`${paths.join(' ')} ${refusal.detail}`).to.match(/--[a-z]|options\.|"stray"|project name/);
        expect(await records()).to.deep.equal(standing);
      }),
    );
    expect(changesIn(scene.cloud, since)).to.deep.equal([]);
    expect(tried).to.be.above(0);
  });
});
