/** What people and operators ask for in a play of bootstraps, and what they are told. */

import { switchAdmission } from '../../functions/bootstraps/begin/admission.js';
import { beginOrResume } from '../../functions/bootstraps/begin/begin.js';
import { extend, protect, unprotect } from '../../functions/bootstraps/lifetime/lifetime.js';
import { lookAgain } from '../../functions/bootstraps/lifetime/look-again.js';
import { share, transfer, unshare } from '../../functions/bootstraps/people/people.js';
import { requestRemoval } from '../../functions/bootstraps/removal/removal.js';
import { cancel } from '../../functions/bootstraps/removal/stop.js';
import type { Context } from '../../functions/context.js';
import type { StoredBootstrap } from '../../functions/engine/record/documents.js';
import { local } from '../../local/stack/deployment.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { functionNames } from '../../shared/names.js';
import { callerOf } from '../organizations/play-functions.js';
import { acceptOptions } from '../support/accept-options.js';
import type { Acting } from './bootstraps-plan.js';
import type { Stage } from './bootstraps-stage.js';
import { teamOf } from './bootstraps-teams.js';
import type { Promises } from './judge-promises.js';
import { startsAt } from './scheduler.js';

/** A word of each secret that people give. It may stand in Secret Manager alone. */
export const secretWord = 'planted-secret';

const hourMs = 3_600_000;
export const ttlHours = (variant: number): number => 1 + (variant % 3);

/** The package that is installed where bootstraps go on to their machines. */
const platform = {
  version: '1.0.0',
  hash: 'abcdef0',
  archive: 'lite',
  object: 'packages/1.0.0.tar.gz',
  bytes: 1000,
  sha256: 'b'.repeat(64),
} as const;

function givenOf(name: string, variant: number, installs: boolean): GivenOptions {
  return {
    projectName: name,
    billingAccount: variant % 5 === 4 ? local.otherBillingAccount : local.billingAccount,
    baseDomain: `${name}.example.com`,
    forge1AppClientId: 'client',
    forge1AppClientSecret: `${secretWord}-${name}`,
    projectTtl: `${ttlHours(variant)}h`,
    ...(variant % 4 === 3 ? { spotVms: true } : {}),
    ...(installs ? { installVersion: platform.version, registryUser: 'alice', forge1Pat: `${secretWord}-pat` } : {}),
  } as GivenOptions;
}

const owner = callerOf('alice@example.com');
const operator = 'admin@example.com';

async function begin(
  { steps, installs, teams }: Stage,
  context: Context,
  { name, variant }: Acting,
): Promise<StoredBootstrap> {
  const given = givenOf(name, variant, installs);
  const { options, secrets, warnings } = acceptOptions(given);
  const asked = {
    caller: owner,
    options,
    secrets,
    given,
    sshPublicKey: 'ssh-ed25519 AAAA alice',
    warnings,
    ...(installs && { package: platform }),
    ...(teams.size > 0 && { team: Number(teams.get(teamOf(name, variant))) }),
  };
  return (await beginOrResume(context, steps, asked as never)).bootstrap;
}

export const protectedUntil = ({ atSeconds, variant }: Acting): number =>
  startsAt + atSeconds * 1000 + ttlHours(variant) * hourMs;

/** Undefined: there is no such bootstrap. The answer is the bootstrap as it is now. */
async function onBootstrap({ steps }: Stage, context: Context, item: Acting): Promise<StoredBootstrap | undefined> {
  const { what, name, variant } = item;
  const [found] = await context.store.query({
    collection: 'bootstraps',
    where: [['name', '==', name]],
    orderBy: ['createdAt', 'desc'],
    limit: 1,
  });
  if (found === undefined) return undefined;
  const { id } = found;
  switch (what) {
    case 'extend':
      return extend(context, steps, id, owner.email, `${ttlHours(variant)}h`);
    case 'protect': {
      const until = new Date(protectedUntil(item)).toISOString();
      return protect(context, steps, id, { email: owner.email, operator: true }, { until, reason: 'asked' });
    }
    case 'unprotect':
      return unprotect(context, steps, id, owner.email);
    case 'share':
      return share(context, steps, id, owner.email, 'bob@example.com');
    case 'unshare':
      return unshare(context, steps, id, owner.email, 'bob@example.com');
    case 'transfer':
      return transfer(context, steps, id, owner.email, variant % 2 === 0 ? 'bob@example.com' : owner.email);
    case 'cancel':
      return cancel(context, steps, id, owner.email);
    case 'restart':
      return lookAgain(context, steps, id, { actor: owner.email, action: 'restart-vms' }, { step: 'vm', what: 'VM' });
    default:
      return requestRemoval(context, steps, id, { by: owner.email, why: 'asked' });
  }
}

/** An operator stops new bootstraps, or opens them again. Whoever is told of a stop knows that nothing begins from then on. */
function switches({ invoke, teller, scheduler }: Stage, promises: Promises, what: 'stop' | 'open'): void {
  teller.tell(scheduler.time(), 'operator', `asks to ${what} new bootstraps`);
  const answered = promises.turn();
  invoke(functionNames.bootstraps, `${what} new bootstraps`, async (context) => {
    const wanted = what === 'stop' ? ({ state: 'stopped', reason: 'asked' } as const) : ({ state: 'open' } as const);
    const { state } = await switchAdmission(context, operator, wanted);
    answered(state);
    teller.tell(scheduler.time(), 'operator', `hears that new bootstraps are ${state}`);
  });
}

/** Asks at the time of the plan. */
export function person(stage: Stage, promises: Promises, item: Acting): void {
  const { scheduler, teller, invoke } = stage;
  const { what, name, variant } = item;
  const post = scheduler.process('people');
  scheduler.start(post, async () => {
    await post.turn(item.atSeconds);
    if (what === 'sweep') return stage.sweeps();
    if (what === 'cleanup') return stage.cleansUp();
    if (what === 'stop' || what === 'open') return switches(stage, promises, what);
    teller.tell(scheduler.time(), 'alice', `asks to ${what} ${name} (${variant})`);
    const answered = promises.ask(item);
    invoke(functionNames.bootstraps, `${what} ${name}`, async (context) => {
      const found =
        what === 'begin' || what === 'resume'
          ? await begin(stage, context, item)
          : await onBootstrap(stage, context, item);
      if (found === undefined) return;
      answered(found.data);
      const { state, deadlineAt, protection } = found.data;
      const until = protection === undefined ? deadlineAt : `${deadlineAt}, protected until ${protection.until}`;
      teller.tell(scheduler.time(), 'alice', `hears that ${name} is ${state} until ${until}`);
    });
  });
}
