/** Each flag of the table does what it says, seen from outside, and dropping it on a re-run does what is promised. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import {
  flagName,
  flagOf,
  isLocal,
  isSecret,
  type Option,
  optionNames,
  variableOf,
} from '../../shared/bootstrap/options.js';
import { runAt } from '../support/plinth-here.js';
import {
  argsOf,
  type Caller,
  domainOf,
  type Flags,
  makeScene,
  type Outcome,
  type Scene,
  succeeded,
} from '../support/scene.js';
import { ownKey, type Row, rows } from './flag-effects.js';
import { writtenAs } from './odd-values.js';
import { type Seen, see } from './seen.js';

type InPlay = Extract<Row, { set: unknown }>;
const inPlay = optionNames.flatMap((option): [Option, InPlay][] => {
  const row: Row = rows[option];
  return 'set' in row ? [[option, row]] : [];
});
const sets = [...new Set(inPlay.map(([, { set }]) => set))];
const bare = (option: Option): string => flagName(option).slice(2);

type Form = { [O in Option]: (typeof writtenAs)[O] extends 'form' ? O : never }[Option];
/** Other values of those that apply on a re-run. */
const otherForms = {
  billingAccount: local.billingAccount,
  projectTtl: '4h',
  kubeDistroVersion: 'v1.29.1+k0s.0',
  clusterAdminEmail: 'before@example.com',
  oidcIssuerUrl: 'https://before.example.com',
  vaultUri: 'https://before.example.com',
  secretsDir: '/etc/before',
  metricsRemoteWriteUrl: 'https://before.example.com',
} as const satisfies Partial<Record<Form, string>>;
const others: Partial<Record<Option, string>> = otherForms;

function otherOf(option: Option): string | readonly string[] | undefined {
  if (flagOf(option).onResume !== 'applies') return undefined;
  switch (writtenAs[option]) {
    case 'form':
      return others[option] ?? expect.fail(`${option} has no other value`);
    case 'text':
    case 'secret':
      // There is one team.
      return option.startsWith('forge1Team') ? undefined : 'before';
    case 'list':
      return ['before'];
    case 'endpoint':
      return 'before:1';
    default:
      return undefined;
  }
}

describe('the effect of each flag', function () {
  this.timeout(240_000);
  let scene: Scene;
  before(async () => {
    scene = await makeScene();
  });
  after(() => scene?.close());

  for (const set of sets) {
    describe(`of the set ${set}`, () => {
      const own = inPlay.filter((each) => each[1].set === set);
      const kind = (dropped: unknown) => own.filter((each) => each[1].dropped === dropped).map(([option]) => option);
      const required = inPlay.filter(([, row]) => row.dropped === 'required');
      const given = [...new Map([...required, ...own])];
      let alice: Caller;
      let first: Seen;
      let refused: Outcome;
      let again: Seen;

      const run = (options: readonly (readonly [Option, InPlay])[]): Promise<Outcome> => {
        const values = new Map<Option, InPlay['given']>(options.map(([option, row]) => [option, row.given]));
        for (const option of optionNames) {
          if (isSecret(option)) Object.assign(alice.env, { [variableOf(option)]: values.get(option) ?? '' });
        }
        const open = [...values].filter(([option]) => !isSecret(option));
        const flags: Flags = Object.fromEntries(
          open.map(([option, value]) => (value === 'false' ? [`${bare(option)}=false`, true] : [bare(option), value])),
        );
        const name = set === 'main' ? 'effects' : `effects-${set}`;
        // Cloud DNS has few sets of name servers, and zones of one name cannot share one.
        const own = set === 'main' ? {} : { 'base-domain': domainOf(name) };
        return alice.bootstrap(name, { 'registry-user': undefined, ...flags, ...own, 'project-name': name });
      };
      const fileOf = (option: 'installConfig' | 'secretsFile') => {
        const row: Row = rows[option];
        return 'set' in row && row.set === set ? String(row.given) : String(flagOf(option).default);
      };

      before(async () => {
        alice = await scene.caller();
        writeFileSync(join(alice.folder, 'mine.pub'), `${ownKey}\n`);
        // Begun with other values, so that what is seen of those that apply is a change.
        const others = given.map(([option, row]) => [option, { ...row, given: otherOf(option) ?? row.given }] as const);
        if (others.some(([, { given: other }], i) => other !== given[i]?.[1].given)) succeeded(await run(others));
        first = await see(scene, alice, await run(given), [fileOf('installConfig'), fileOf('secretsFile')]);
        refused = await run(required);
        const fixed = new Set<Option>(kind('refused'));
        const left = given.filter(([option, row]) => row.dropped === 'required' || fixed.has(option));
        // Where nothing may be dropped, what was refused is all there is to see.
        again = left.length === given.length ? first : await see(scene, alice, await run(left));
      });

      /** What dropping it does, by what was seen. */
      const endingOf = (option: Option, row: InPlay): string => {
        const { errors = [] } = (refused.result.problem ?? {}) as { errors?: { path: string; message: string }[] };
        const fault = errors.find(({ path }) => path === flagName(option));
        if (fault !== undefined) return /^is .+ and cannot become .+/.test(fault.message) ? 'refused' : fault.message;
        if (isDeepStrictEqual(row.look(again), row.seen)) return 'stays';
        return isLocal(option) && row.where !== 'cloud' ? 'this run' : 'gone';
      };

      for (const [option, row] of own) {
        const { dropped, where } = row;
        const ending = typeof dropped === 'string' ? dropped : `stays, as ${dropped.stays}`;
        const changed = otherOf(option) !== undefined ? 'changed: applied; ' : '';
        it(`${flagName(option)} is seen in the ${where}; ${changed}dropped: ${ending}`, () => {
          expect(row.look(first)).to.deep.equal(row.seen);
          if (dropped !== 'required')
            expect(endingOf(option, row)).to.equal(typeof dropped === 'string' ? dropped : 'stays');
        });
      }
    });
  }

  it('required ones are refused when they are missing, all at once', async () => {
    const alice = await scene.caller();
    const names = inPlay.filter(([, row]) => row.dropped === 'required').map(([option]) => option);
    Object.assign(alice.env, { PLINTH_FORGE1_APP_CLIENT_SECRET: '' });
    const none = Object.fromEntries(
      names.filter((option) => !isSecret(option)).map((option) => [bare(option), undefined]),
    );
    const { exitCode, result } = await alice.bootstrap('missing', none);
    expect(exitCode).to.equal(2);
    for (const option of names) expect(result.problem?.detail).to.include(`${flagName(option)} is required`);
  });

  it('--help is seen on the terminal, and makes nothing; dropped: this run', async () => {
    const alice = await scene.caller();
    const since = scene.cloud.calls.last();
    const { exitCode, stdout } = await runAt(['beta', 'bootstrap-cloud', ...argsOf('helped', { help: true })], alice);
    expect([exitCode, stdout.includes('Usage')]).to.deep.equal([0, true]);
    expect(scene.cloud.calls.list({ since, method: 'cloudresourcemanager.projects.create' })).to.deep.equal([]);
    const dry = await runAt(['beta', 'bootstrap-cloud', ...argsOf('helped', { 'dry-run': true })], alice);
    expect([dry.exitCode, dry.stdout.includes('Usage')]).to.deep.equal([0, false]);
    expect(apart('itself')).to.deep.equal(['help']);
  });
});

const apart = (by: string) => optionNames.filter((option) => (rows[option] as { by?: string }).by === by);
