/** Who may bootstrap, and with which billing account, parent and DNS zone: the deployment's settings. Called where a bootstrap begins. */
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { Problem } from '../../shared/problems.js';
import type { Config } from '../config.js';
import type { Caller } from './auth.js';

type Asked = Pick<BootstrapOptions, 'billingAccount' | 'folderId' | 'dnsProjectId' | 'dnsZoneName'>;

const holds = (allowed: readonly string[], value: string): boolean => allowed.includes('*') || allowed.includes(value);

const forbidden = (option: string, what: string): Problem =>
  new Problem('forbidden', `${what} may not be used here.`, {
    advice: `Give another ${option}, or ask an operator of this deployment to allow it.`,
    members: { option },
  });

/** 403 that says who or what may not. */
export function checkMayBootstrap(config: Config, caller: Caller, asked: Asked): void {
  const { emails, domains } = config.bootstrappers;
  const may =
    caller.operator ||
    emails.some((email) => email.toLowerCase() === caller.email) ||
    (caller.domain !== undefined && domains.some((domain) => domain.toLowerCase() === caller.domain));
  if (!may) {
    throw new Problem('forbidden', `${caller.email} may not bootstrap here.`, {
      advice: 'Ask an operator of this deployment.',
    });
  }

  const { allowed, defaultParent } = config;
  const account = asked.billingAccount.replace(/^billingAccounts\//, '');
  if (!holds(allowed.billingAccounts, account)) throw forbidden('--billing-account', `The billing account ${account}`);

  if (asked.folderId === undefined && defaultParent === undefined) {
    const message = 'is needed: this deployment has no parent of its own for projects';
    throw new Problem('bad-input', `--folder-id: ${message}`, { errors: [{ path: '--folder-id', message }] });
  }
  const parent = asked.folderId === undefined ? defaultParent : `folders/${asked.folderId.replace(/^folders\//, '')}`;
  if (parent !== undefined && parent !== defaultParent && !holds(allowed.parents, parent)) {
    throw forbidden('--folder-id', `The parent ${parent}`);
  }

  // Without a project for DNS the zone is in the bootstrap's own project.
  if (asked.dnsProjectId === undefined) return;
  const zone = `${asked.dnsProjectId}/${asked.dnsZoneName}`;
  if (!holds(allowed.dnsZones, zone)) throw forbidden('--dns-zone-name', `The DNS zone ${zone}`);
}
