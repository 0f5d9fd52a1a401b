/** Each flag with odd values, as people type them: they arrive byte for byte where their effect is seen, or the refusal names the flag. */
import { expect } from 'chai';
import { applyInitial } from '../../local/cloud/initial.js';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { local } from '../../local/stack/deployment.js';
import { flagName, flagOf, isSecret, type Option, optionNames, variableOf } from '../../shared/bootstrap/options.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Outcome, outcomeOf, type Scene } from '../support/scene.js';
import { type Row, rows } from './flag-effects.js';
import { type Odd, odds, oddValues, takes, writtenAs } from './odd-values.js';
import { see } from './seen.js';

type InPlay = Extract<Row, { set: unknown }>;

/** As people write them; all mean the value. A list has all that are written. */
const forms = ['apart', 'inline', 'repeated', 'environment'] as const;
interface Written {
  readonly args: string[];
  readonly env: Record<string, string>;
  /** What they come to. */
  readonly value: string | readonly string[];
}
function write(option: Option, value: string, turn: number): Written {
  const name = flagName(option);
  const { kind } = flagOf(option);
  const form = forms[turn % forms.length];
  if (form === 'environment' && isSecret(option) && value !== '')
    return { args: [], env: { [variableOf(option)]: value }, value };
  const isList = kind === 'list';
  // An empty value clears a list only if it is the only one.
  const before = form === 'repeated' && !(isList && value === '') ? [`${name}=before`] : [];
  const own = form === 'inline' || kind === 'bool' ? [`${name}=${value}`] : [name, value];
  const all = [...before.map(() => 'before'), value];
  const listed = value === '' ? [] : all;
  // A number that was no number is a fault of its own, and a bool has no value apart.
  const args = kind === 'int' || kind === 'bool' ? own : [...before, ...own];
  return { args, env: {}, value: isList ? listed : value };
}

/** Two files cannot lie at one place. */
const oddOf = (option: Option, odd: Odd): string =>
  `${oddValues[odd]}${option === 'secretsFile' && odd !== 'empty' ? '.vault' : ''}`;

/** Tests with each of these values, in the describe that calls it. */
export function playOddValues(played: readonly Odd[]): void {
  let scene: Scene;
  let alice: Caller;
  /** Given where the odd value is refused of them: others need them. */
  const usual = {
    projectName: '',
    billingAccount: local.otherBillingAccount,
    baseDomain: 'odd.example.com',
    forge1AppClientId: 'client',
    forge1AppClientSecret: 'planted-forge1',
    registryUser: 'somebody',
    forge2AppClientId: 'client-2',
    forge3AppClientId: 'client-3',
    forge4AppClientId: 'client-4',
    oidcClientId: 'client-5',
    forge2AppClientSecret: 'planted-forge2',
    forge3AppClientSecret: 'planted-forge3',
    forge4AppClientSecret: 'planted-forge4',
    oidcClientSecret: 'planted-oidc',
    oidcIssuerUrl: 'https://id.example.com',
    vaultUri: 'https://vault.example.com',
    centralOtelEndpoint: 'https://otel.example.com',
    externalLogstoreEndpoint: 'https://logs.example.com',
    metricsRemoteWriteUrl: 'https://metrics.example.com',
    forge1Pat,
  } satisfies Partial<Record<Option, string>>;

  before(async () => {
    scene = await makeScene();
    alice = await scene.caller();
    const { world } = scene.stack.cloudHalf?.forge1 ?? expect.fail('no forge1');
    const scopes = world.tokens[forge1Pat] ?? [];
    const { number } = oddValues;
    applyInitial(scene.cloud.world, {
      folders: [{ name: `folders/${number}`, displayName: number, parent: local.otherFolder as 'folders/1' }],
    });
    for (const value of Object.values(oddValues)) {
      world.tokens[value] = scopes;
      world.teams[`${value}/${value}`] = ['alice', 'bob'];
    }
  });
  after(() => scene?.close());

  async function run(
    odd: Odd,
    options: readonly Option[],
  ): Promise<Outcome & { values: Map<Option, Written['value']> }> {
    const turn = odds.indexOf(odd);
    const values = new Map<Option, Written['value']>();
    const args: string[] = [];
    const env: Record<string, string> = {};
    for (const [index, option] of options.entries()) {
      const written = write(option, oddOf(option, odd), turn + index);
      args.push(...written.args);
      Object.assign(env, written.env);
      values.set(option, written.value);
    }
    const rest = Object.entries({ ...usual, projectName: 'odd-values' })
      .filter(([option]) => !options.includes(option as Option))
      .flatMap(([option, value]) => [flagName(option as Option), value]);
    const ran = await runAt(['beta', 'bootstrap-cloud', '--json', ...rest, ...args], {
      ...alice,
      env: { ...alice.env, PLINTH_FORGE1_APP_CLIENT_SECRET: '', ...env },
    });
    return { ...outcomeOf(ran), values };
  }
  const refusedIn = ({ result }: Outcome): Option[] => {
    const { errors = [] } = (result.problem ?? {}) as { errors?: readonly { readonly path: string }[] };
    const paths = new Set(errors.map(({ path }) => path));
    return optionNames.filter((option) => paths.has(flagName(option)));
  };

  // What no name may be changes the values of one bootstrap that stands.
  for (const odd of played) {
    it(`${odd}: ${JSON.stringify(oddValues[odd])}`, async () => {
      const since = scene.cloud.calls.last();
      const here = await run(odd, optionNames);
      expect(here.exitCode, here.stderr).to.equal(2);
      const left = optionNames.filter((option) => !refusedIn(here).includes(option));
      const there = await run(odd, left);
      const refused = [...refusedIn(here), ...(there.exitCode === 0 ? [] : refusedIn(there))];
      const made = scene.cloud.calls.list({ since, method: 'cloudresourcemanager.projects.create' });
      if (there.exitCode !== 0) expect(made, 'a refused command made a project').to.deep.equal([]);

      const fileIsMissing = (option: Option) => writtenAs[option] === 'file';
      const expected = optionNames.filter((option) => fileIsMissing(option) || !takes(writtenAs[option], odd));
      expect(
        {
          refused: refused.filter((option) => !expected.includes(option)),
          taken: expected.filter((option) => !refused.includes(option)),
        },
        JSON.stringify(there.result),
      ).to.deep.equal({ refused: [], taken: [] });

      const taken = optionNames.filter((option) => !expected.includes(option));
      const arrived = there.exitCode === 0 ? there : await run(odd, taken);
      const named = (option: 'installConfig' | 'secretsFile', usual: string) =>
        taken.includes(option) ? oddOf(option, odd) : usual;
      const seen = await see(scene, alice, arrived, [
        named('installConfig', 'config.yaml'),
        named('secretsFile', 'prod.vault.yaml'),
      ]);
      const wrong = taken.flatMap((option) => {
        const { look, seen: usual, given, sees } = rows[option] as InPlay;
        const value = arrived.values.get(option) ?? '';
        const same = JSON.stringify(usual) === JSON.stringify(given);
        const wanted = sees?.(value) ?? (same ? value : usual);
        // The output redacts its path, because secrets have the same value here.
        const found = writtenAs[option] === 'path' ? alice.has(String(value)) : look(seen);
        return JSON.stringify(found) === JSON.stringify(wanted) ? [] : [{ flag: flagName(option), wanted, found }];
      });
      expect(wrong).to.deep.equal([]);
    });
  }
}
