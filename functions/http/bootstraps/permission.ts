/** Decides by the deployment's settings who may bootstrap, and with which billing account, parent and DNS zone. */
import { addSeconds } from '../../../shared/add-seconds.js';
import { parseDuration } from '../../../shared/bootstrap/duration.js';
import { endFault } from '../../../shared/bootstrap/lifetime.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import type { Config } from '../../config.js';
import type { Caller } from '../../identity/auth.js';
import { mayBeGivenTo } from '../../identity/entitled.js';
import { checkAll } from './objections.js';

const refused = (option: string, message: string, advice: string): Problem =>
  new Problem('bad-input', `${option} ${message}`, { errors: [{ path: option, message }], advice });

type Asked = Pick<BootstrapOptions, 'billingAccount' | 'folderId' | 'dnsProjectId' | 'dnsZoneName' | 'projectTtl'>;

const holds = (allowed: readonly string[], value: string): boolean => allowed.includes('*') || allowed.includes(value);

const forbidden = (option: string, what: string): Problem =>
  new Problem('forbidden', `${what} may not be used here.`, {
    errors: [{ path: option, message: 'is not allowed here' }],
    advice: `Give another ${option}, or ask an operator of this deployment to allow it.`,
    members: { option },
  });

export const mayBootstrap = (
  { bootstrappers: { emails, domains } }: Pick<Config, 'bootstrappers'>,
  caller: Caller,
): boolean =>
  caller.operator || emails.includes(caller.email) || (caller.domain !== undefined && domains.includes(caller.domain));

/** Throws a 403 if the caller may not bootstrap at all. */
export function checkMayBootstrap(config: Config, caller: Caller): void {
  if (mayBootstrap(config, caller)) return;
  throw new Problem('forbidden', `${caller.email} may not bootstrap here.`, {
    advice: 'Ask an operator of this deployment.',
  });
}

/** Throws a 403 if the new owner may not bootstrap. */
export function checkMayOwn(config: Known, email: string): void {
  if (mayBeGivenTo(config, email)) return;
  throw new Problem('forbidden', `${email} may not bootstrap here, so nothing can be given to them.`, {
    advice: 'Choose somebody else, or ask an operator of this deployment to let them bootstrap.',
  });
}

/** Throws a 403 if the invited may not bootstrap. They get a role on the project, and the project's bill is this deployment's. */
export function checkMayShare(config: Known, email: string): void {
  if (mayBeGivenTo(config, email)) return;
  throw new Problem('forbidden', `${email} may not bootstrap here, so nothing can be shared with them.`, {
    advice: 'Choose somebody else, or ask an operator of this deployment to let them bootstrap.',
  });
}

type Known = Pick<Config, 'bootstrappers' | 'auth'>;

/**
 * Throws a 403 that names what may not be used. Throws a 400 for a missing parent or a lifetime that is too long. Checks only
 * options that are valid in themselves, and reports all objections at once. `createdAt`: when it begins, or has begun.
 */
export const checkAllowed = (
  config: Config,
  asked: Asked,
  createdAt: string,
  isRight: (...options: (keyof Asked)[]) => boolean,
) =>
  checkAll([
    () => isRight('billingAccount') && checkAccount(config, asked),
    () => isRight('folderId') && checkParent(config, asked),
    () => isRight('dnsProjectId', 'dnsZoneName') && checkZone(config, asked),
    () => isRight('projectTtl') && checkTtl(config, asked, createdAt),
  ]);

const accountOf = ({ billingAccount }: Pick<Asked, 'billingAccount'>): string =>
  billingAccount.replace(/^billingAccounts\//, '');

/** Nothing looks up any other account or tells the caller about it. */
const mayUseAccount = ({ allowed }: Config, asked: Pick<Asked, 'billingAccount'>): boolean =>
  holds(allowed.billingAccounts, accountOf(asked));

function checkAccount(config: Config, asked: Asked): void {
  if (!mayUseAccount(config, asked)) throw forbidden('--billing-account', `The billing account ${accountOf(asked)}`);
}

function checkParent({ allowed, defaultParent }: Config, { folderId }: Asked): void {
  const parent = folderId === undefined ? defaultParent : `folders/${folderId.replace(/^folders\//, '')}`;
  if (parent === undefined)
    throw refused(
      '--folder-id',
      'is needed: this deployment has no parent of its own for projects',
      'Give --folder-id.',
    );
  if (!holds(allowed.parents, parent)) throw forbidden('--folder-id', `The parent ${parent}`);
}

/** Without a project for DNS, the zone is in the bootstrap's own project. */
function checkZone({ allowed }: Config, { dnsProjectId, dnsZoneName }: Asked): void {
  const zone = `${dnsProjectId}/${dnsZoneName}`;
  if (dnsProjectId !== undefined && !holds(allowed.dnsZones, zone)) {
    throw forbidden('--dns-zone-name', `The DNS zone ${zone}`);
  }
}

function checkTtl({ limits: { maxTtlSeconds } }: Config, { projectTtl }: Asked, createdAt: string): void {
  const end = addSeconds(new Date(createdAt), parseDuration(projectTtl) ?? 0);
  const fault = endFault(createdAt, end, maxTtlSeconds);
  if (fault !== undefined) throw refused('--project-ttl', fault, 'Give a shorter --project-ttl.');
}
