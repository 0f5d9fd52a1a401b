/** What `--check` tells of bad values in one world of the simulated cloud: each alone, or that a bootstrap is refused with all of them. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { setOrganizationPolicy } from '../../local/cloud/org-policy/policies.js';
import type { WorldName } from '../../local/cloud/worlds/table.js';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { makePackage, sampleVersion } from '../../local/packages/make-package.js';
import { local } from '../../local/stack/deployment.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { flagName, optionNames } from '../../shared/bootstrap/options.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { functionNames } from '../../shared/names.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, changesIn, type Flags, makeScene, outcomeOf, type Scene } from '../support/scene.js';
import { inSharedZone } from '../support/shared-zone.js';
import { badFlags } from './bad-flags.js';
import { type BadValue, badInstalls, badValues, here, told as toldOf } from './bad-values.js';

interface Checked {
  readonly exitCode: number | null;
  readonly go: boolean;
  readonly findings: readonly PreflightFinding[];
}

export async function check(caller: Caller, name: string, flags: Flags = {}): Promise<Checked> {
  const run = await runAt(['beta', 'bootstrap-cloud', '--check', '--json', ...argsOf(name, flags)], caller);
  const { result } = outcomeOf(run);
  expect(result['check'], run.stdout + run.stderr).to.be.an('object');
  return { exitCode: run.exitCode, ...(result['check'] as Omit<Checked, 'exitCode'>) };
}

const flagsOfBad = (): Flags =>
  Object.fromEntries(
    optionNames.flatMap((option) => {
      const value = badFlags[option];
      return value === undefined ? [] : [[flagName(option).slice(2), value] as const];
    }),
  );

const codesIn = (findings: readonly PreflightFinding[], state: PreflightFinding['state']): string[] =>
  findings.filter((each) => each.state === state).map(({ code }) => code);

const forbidding = [
  'compute.vmExternalIpAccess',
  'compute.requireOsLogin',
  'compute.restrictLoadBalancerCreationForTypes',
] as const;

/** What the world itself forbids has tests of its own. */
function openPolicies({ cloud: { world } }: Scene): void {
  for (const constraint of forbidding) {
    const rule = constraint === 'compute.requireOsLogin' ? { enforce: false } : { allowAll: true };
    setOrganizationPolicy(world, local.otherFolder, constraint, [rule]);
  }
}

/** Told as this finding alone, with what, why and what mends it, and nothing is made. */
async function isTold(scene: Scene, caller: Caller, { code, flags, arrange, exitCode, words }: Omit<BadValue, 'what'>) {
  const takeBack = await arrange?.(scene);
  const since = scene.cloud.calls.last();
  try {
    const checked = await check(caller, 'bad-value', { ...here, ...flags });
    const told = checked.findings.find((each) => each.code === code);
    expect(told?.state, JSON.stringify(told)).to.equal('stop');
    expect(codesIn(checked.findings, 'stop')).to.deep.equal([code]);
    expect(`${told?.what} ${told?.mend}`).to.match(words);
    expect(told?.mend).to.match(toldOf[code].mend as RegExp);
    expect(told?.why).to.be.a('string');
    expect([checked.exitCode, checked.go]).to.deep.equal([exitCode, false]);
    expect(changesIn(scene.cloud, since)).to.deep.equal([]);
  } finally {
    await takeBack?.();
  }
}

/** A scene in the world, and its caller. */
function useWorld(world: WorldName) {
  const at = {} as { scene: Scene; alice: Caller };
  before(async () => {
    at.scene = await makeScene({ world, settings: { PLINTH_MAX_TTL_SECONDS: '86400' } });
    at.alice = await at.scene.caller();
    openPolicies(at.scene);
  });
  after(() => at.scene?.close());
  return at;
}

/** That a world as such stops nothing, and that what is wrong is told all the same. */
export function describeWorld(world: WorldName): void {
  describe(`a bootstrap in the world ${world}`, function () {
    this.timeout(240_000);
    const at = useWorld(world);

    it('nothing stops a bootstrap as it is meant, and what nobody can know is unknown', async () => {
      const { exitCode, go, findings } = await check(at.alice, 'as-it-is-meant', here);
      expect([exitCode, go, codesIn(findings, 'stop'), codesIn(findings, 'warning')]).to.deep.equal([0, true, [], []]);
      expect(codesIn(findings, 'unknown')).to.deep.equal([
        'billing-links',
        'project-quota',
        'project-permissions',
        // Whom a policy of domains lets in, Google tells when it gives the owner their role.
        'policies',
        'quota',
        'dns-delegation',
      ]);
    });

    it('a new bootstrap that something stops is refused with all of it, and nothing is made', async () => {
      const since = at.scene.cloud.calls.last();
      const flags = { 'folder-id': '404404404404', zone: 'europe-west4-z', 'billing-account': 'AAAAAA-BBBBBB-CCCCCC' };
      const { result, exitCode } = await at.alice.bootstrap('refused', flags);
      expect(exitCode).to.equal(2);
      for (const word of ['404404404404', 'europe-west4-z', 'AAAAAA-BBBBBB-CCCCCC']) {
        expect(result.problem?.detail).to.include(word);
      }
      expect(changesIn(at.scene.cloud, since)).to.deep.equal([]);
    });
  });
}

/** Each bad value alone. */
export function describeBadValues(world: WorldName): void {
  describe(`before a bootstrap begins, in the world ${world}`, function () {
    this.timeout(240_000);
    const at = useWorld(world);

    for (const { what, ...bad } of badValues) {
      it(`${what} is told as ${bad.code}, and nothing is made`, () => isTold(at.scene, at.alice, bad));
    }

    it('each flag with a value that it cannot take is told, all in one round, and nothing is made', async () => {
      const since = at.scene.cloud.calls.last();
      const { findings, exitCode, go } = await check(at.alice, 'bad-flags', flagsOfBad());
      const told = findings.flatMap(({ state, errors = [] }) =>
        state === 'stop' ? errors.map(({ path }) => path) : [],
      );
      expect(told).to.include.members(Object.keys(flagsOfBad()).map((flag) => `--${flag}`));
      expect([exitCode, go]).to.deep.equal([2, false]);
      expect(changesIn(at.scene.cloud, since)).to.deep.equal([]);
    });

    it('a value that cannot even be sent is told beside what is wrong elsewhere', async () => {
      const flags = { 'datacenter-id': 'x', 'folder-id': '404404404404', zone: 'europe-west4-z' };
      const { findings, exitCode } = await check(at.alice, 'unsendable', { ...here, ...flags });
      expect(codesIn(findings, 'stop')).to.deep.equal(['options', 'parent', 'zone']);
      const told = findings.find(({ code }) => code === 'options');
      expect(told?.errors?.map(({ path }) => path)).to.deep.equal(['--datacenter-id']);
      expect(exitCode).to.equal(2);
    });

    it('a file that is not there is told beside what is wrong elsewhere', async () => {
      const flags = { 'install-local': 'missing.tar.gz', region: 'mars-west1', zone: 'mars-west1-a' };
      const { findings, exitCode } = await check(at.alice, 'all-at-once', { ...here, ...flags });
      expect(codesIn(findings, 'stop')).to.include.members(['files', 'region']);
      expect(exitCode).to.equal(2);
    });

    it('a name that somebody else has is told, and one of your own is not', async () => {
      const bob = await at.scene.caller('bob@example.com');
      expect((await bob.bootstrap('taken-name', here)).result.created).to.equal(true);
      const { findings, exitCode } = await check(at.alice, 'taken-name', here);
      expect([exitCode, codesIn(findings, 'stop')]).to.deep.equal([5, ['name']]);
      expect(findings.find(({ code }) => code === 'name')?.mend).to.match(toldOf.name.mend as RegExp);
      const own = await check(bob, 'taken-name', here);
      expect(own.findings.find(({ code }) => code === 'name')?.what).to.include('yours');
      // Somebody of that domain has got their role by now.
      const policies = (await check(at.alice, 'after-it', here)).findings.find(({ code }) => code === 'policies');
      expect([policies?.state, policies?.what.match(toldOf.policies.ok as RegExp)?.length]).to.deep.equal(['ok', 1]);
    });
  });
}

/** Each bad value of an install alone. */
export function describeBadInstalls(world: WorldName): void {
  describe(`before a bootstrap with machines begins, in the world ${world}`, function () {
    this.timeout(240_000);
    let scene: Scene;
    let alice: Caller;
    let registry: Server;
    before(async () => {
      registry = await startRegistry('somebody');
      scene = await makeScene({
        world,
        settings: {
          PLINTH_HOSTS: 'on',
          PLINTH_RELEASES_URL: 'https://mirror.example.com/plinth',
          PLINTH_RELEASE_SHA256: '0'.repeat(64),
          PLINTH_ENDPOINTS: `forge1-registry=http://127.0.0.1:${(registry.address() as AddressInfo).port}`,
        },
      });
      openPolicies(scene);
      alice = await scene.caller();
      await publishPackage(scene.cloud, await makePackage(alice.folder));
    });
    after(async () => {
      await scene?.close();
      registry?.close();
    });

    for (const { what, ...bad } of badInstalls) {
      it(`${what} is told as ${bad.code}, and nothing is made`, () => isTold(scene, alice, bad));
    }

    const everything: Flags = {
      ...here,
      ...inSharedZone,
      'install-version': sampleVersion,
      'registry-type': 'forge1',
      'forge1-pat': forge1Pat,
      'forge1-team-org': 'example',
      'forge1-team-slug': 'platform',
    };

    it('each finding is fine where all is as it must be, and says what was seen', async () => {
      const { findings, go } = await check(alice, 'everything', everything);
      expect(go).to.equal(true);
      // Both come with what stands: whom a policy of domains lets in, and whether a resume finds its release.
      const later = ['policies', 'release-known'];
      for (const [code, { ok }] of Object.entries(toldOf).filter(([each]) => !later.includes(each))) {
        const found = findings.find((each) => each.code === code);
        expect(found?.state, JSON.stringify(found ?? code)).to.equal(ok === undefined ? 'unknown' : 'ok');
        if (ok !== undefined) expect(found?.what, code).to.match(ok);
      }
    });

    it('a registry that does not answer is unknown, and stops nothing', async () => {
      const { registryUrls } = scene.stack.functionsHalf?.contextOf(functionNames.bootstraps).config ?? {};
      const before = { ...registryUrls };
      Object.assign(registryUrls ?? {}, { forge1: 'http://127.0.0.1:9' });
      try {
        const { findings, go } = await check(alice, 'unreadable', everything);
        const found = findings.find(({ code }) => code === 'registry');
        expect([found?.state, go]).to.deep.equal(['unknown', true]);
        expect(found?.what).to.include('http://127.0.0.1:9 does not answer');
      } finally {
        Object.assign(registryUrls ?? {}, before);
      }
    });
  });
}

/** Lets this user in, with whatever token. */
async function startRegistry(user: string): Promise<Server> {
  const server = createServer((request, response) => {
    const [name] = Buffer.from(request.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
      .toString()
      .split(':');
    response.writeHead(name === user ? 200 : 401, { 'www-authenticate': 'Basic realm="registry"' });
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
