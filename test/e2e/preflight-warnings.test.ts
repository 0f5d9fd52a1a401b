/** What `--check` warns of, what `--strict` makes of that, and that a bootstrap begins all the same without it. */

import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { applyInitial } from '../../local/cloud/initial.js';
import { homeOf } from '../../local/demo/plinth-process.js';
import { functionAccount, local } from '../../local/stack/deployment.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { functionNames } from '../../shared/names.js';
import { openSshPair } from '../../shared/openssh.js';
import { runAt } from '../support/plinth-here.js';
import {
  argsOf,
  type Caller,
  changesIn,
  type Flags,
  makeScene,
  outcomeOf,
  type Scene,
  succeeded,
} from '../support/scene.js';
import { askDns } from '../support/shared-zone.js';

const { project } = local.standingZone;
const mayLink = `billingAccounts/${local.otherBillingAccount}` as const;

interface Case {
  readonly code: string;
  readonly flags: Flags;
  readonly words: RegExp;
}

const cases: readonly Case[] = [
  {
    code: 'dns-delegation',
    // The zone is there, and nobody leads to it.
    flags: { 'dns-project-id': project, 'dns-zone-name': 'lonely', 'base-domain': 'lonely.example.com' },
    words: /led nowhere for lonely\.example\.com\..* Delegate it in the zone above: lonely\.example\.com\. NS /,
  },
  {
    code: 'billing-links',
    flags: { 'billing-account': local.otherBillingAccount },
    words: /pays for 5 projects.* Young accounts may pay for 5.*gcloud billing projects list/,
  },
];

describe('what a preflight warns of', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  before(async () => {
    scene = await makeScene();
    alice = await scene.caller();
    await askDns(scene, `projects/${project}/managedZones`, {
      name: 'lonely',
      dnsName: 'lonely.example.com.',
      description: 'of nobody',
    });
    applyInitial(scene.cloud.world, {
      projects: [1, 2, 3, 4, 5].map((i) => ({
        projectId: `paid-for-${i}`,
        parent: local.folder as 'folders/1',
        billingAccountName: mayLink,
      })),
      bindings: [
        {
          resource: `projects/${project}/managedZones/lonely`,
          role: 'roles/dns.admin',
          members: [`serviceAccount:${functionAccount(functionNames.runCloudStep)}`],
        },
      ],
    });
  });
  after(() => scene?.close());

  const check = async (flags: Flags) => {
    const outcome = outcomeOf(
      await runAt(['beta', 'bootstrap-cloud', '--check', '--json', ...argsOf('warned', flags)], alice),
    );
    const { findings } = outcome.result['check'] as { findings: readonly PreflightFinding[] };
    const codes = (state: string) => findings.filter((each) => each.state === state).map(({ code }) => code);
    return { findings, exitCode: outcome.exitCode, stops: codes('stop'), warnings: codes('warning') };
  };

  for (const { code, flags, words } of cases) {
    it(`${code}: go with a warning, and with --strict no go`, async () => {
      const since = scene.cloud.calls.last();
      const { exitCode, stops, warnings, findings } = await check(flags);
      expect([exitCode, stops, warnings]).to.deep.equal([0, [], [code]]);
      const { what, mend, why } = findings.find((each) => each.code === code) ?? {};
      expect(`${what} ${mend}`).to.match(words);
      expect(why).to.be.a('string');
      const strict = await check({ ...flags, strict: true });
      expect([strict.exitCode, strict.stops, strict.warnings]).to.deep.equal([2, [code], []]);
      const refused = await alice.bootstrap('warned', { ...flags, strict: true });
      expect([refused.exitCode, refused.result.problem?.code]).to.deep.equal([2, 'bad-input']);
      expect(changesIn(scene.cloud, since)).to.deep.equal([]);
    });
  }

  it('is on the screen before it starts, and stops nothing', async () => {
    const outcome = await alice.bootstrap('warned', { 'billing-account': local.otherBillingAccount });
    succeeded(outcome);
    const shown = outcome.events.find(({ type }) => type === 'beginning')?.['findings'] as PreflightFinding[];
    expect(shown.filter(({ state }) => state === 'warning').map(({ code }) => code)).to.deep.equal(['billing-links']);
    expect(outcome.result['warnings']).to.satisfy((texts: string[]) => texts.some((text) => /pays for 5/.test(text)));
  });

  it('is also a usual pair of SSH keys whose halves are of two pairs', async () => {
    const bob = await scene.caller('bob@example.com');
    const folder = join(homeOf(bob.folder), '.ssh');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const pair = () => {
      const { privateKey } = generateKeyPairSync('ed25519');
      return openSshPair(String(privateKey.export({ format: 'pem', type: 'pkcs8' })), 'of somebody');
    };
    writeFileSync(join(folder, 'id_ed25519'), pair().privateKey, { mode: 0o600 });
    writeFileSync(join(folder, 'id_ed25519.pub'), `${pair().publicKey}\n`);
    const run = await runAt(['beta', 'bootstrap-cloud', '--check', '--json', ...argsOf('two-pairs')], bob);
    const { findings } = outcomeOf(run).result['check'] as { findings: readonly PreflightFinding[] };
    const told = findings.find(({ code }) => code === 'ssh-key');
    expect([run.exitCode, told?.state]).to.deep.equal([0, 'warning']);
    expect(`${told?.what} ${told?.mend}`).to.match(
      /does not belong to the public key in .*id_ed25519\.pub.*ssh-keygen -y/,
    );
  });
});
