/** Tables of gcloud's commands: what each prints, or with which words it fails. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { gcloudEnvironment } from '../../local/cloud/gcloud.js';
import { furnish } from '../local-cloud/furnished.js';
import { owner, project, type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';

/** A command, and what its output holds. Where it must fail: what it says, in `fails`. */
export type Command = readonly [command: string, expected: RegExp | { readonly fails: RegExp }];

/** Groups by title. The commands of a group run one after another, on a cloud of their own. */
export type Commands = Readonly<Record<string, readonly Command[]>>;

interface Outcome {
  readonly isGood: boolean;
  readonly text: string;
}

/** gcloud takes a second or two to start. More at once only wait for each other. */
const atOnce = 2;

/** Blanks separate arguments. A blank within one is written as `␣`. */
const argumentsOf = (command: string): string[] => command.split(' ').map((each) => each.replaceAll('␣', ' '));

function run(command: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile('gcloud', [...argumentsOf(command), '--quiet'], { env, timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ isGood: error === null, text: `${stdout}${stderr}` });
    });
  });
}

/** Of gcloud, as the owner of the ready project. */
export function environmentOfOwner(cloud: ReadyCloud, configFolder: string): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return {
    PATH,
    HOME,
    CLOUDSDK_CORE_PROJECT: project,
    CLOUDSDK_CORE_DISABLE_USAGE_REPORTING: 'true',
    CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK: 'true',
    ...gcloudEnvironment({
      frontUrl: cloud.frontUrl,
      accessToken: cloud.identity.accessToken(owner),
      configFolder,
    }),
  };
}

async function runGroup(commands: readonly Command[], outcomes: Map<Command, Outcome>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gcloud-'));
  const cloud: ReadyCloud = await readyCloud();
  try {
    await furnish(cloud);
    const env = environmentOfOwner(cloud, folder);
    for (const command of commands) outcomes.set(command, await run(command[0], env));
  } finally {
    await cloud.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const countOf = (commands: Commands): number => Object.values(commands).flat().length;

/** One test a command. All run before the first. */
export function itRuns(commands: Commands): void {
  const outcomes = new Map<Command, Outcome>();

  before(async function () {
    this.timeout(countOf(commands) * 10_000);
    const waiting = Object.values(commands);
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await runGroup(next, outcomes);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  });

  for (const [title, group] of Object.entries(commands)) {
    describe(title, () => {
      for (const each of group) {
        const [command, expected] = each;
        it(`gcloud ${command}`, () => {
          const { isGood, text } = outcomes.get(each) ?? { isGood: false, text: 'It did not run.' };
          const isWanted = expected instanceof RegExp;
          expect(isGood, text).to.equal(isWanted);
          expect(text).to.match(isWanted ? expected : expected.fails);
          expect(text).not.to.match(/Fault of the simulated cloud|Traceback/);
        });
      }
    });
  }
}
