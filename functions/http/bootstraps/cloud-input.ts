/** Asks Google whether the things that the options name exist, before plinth creates or changes anything. */
import { type BootstrapOptions, flagName } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';

type Asking = Pick<Context, 'config' | 'cloud'>;

const refused = (option: keyof BootstrapOptions, message: string, advice: string): Problem => {
  const path = flagName(option);
  return new Problem('bad-input', `${path} ${message}`, { errors: [{ path, message }], advice });
};

/** Throws unless plinth can see the account and it is open. */
export async function checkBillingAccount(
  { cloud }: Asking,
  { billingAccount }: Pick<BootstrapOptions, 'billingAccount'>,
): Promise<void> {
  const id = billingAccount.replace(/^billingAccounts\//, '');
  const found = await cloud.billing.account(`billingAccounts/${id}`);
  if (found === undefined) {
    throw refused(
      'billingAccount',
      `names ${id}, which plinth cannot see`,
      `Check --billing-account. If it is right, ask its administrator to grant plinth's service accounts their roles on ${id}.`,
    );
  }
  if (found.open !== true) {
    throw refused(
      'billingAccount',
      `names ${id}, which is closed`,
      'Give another --billing-account, or have that one opened again.',
    );
  }
}

/** Throws unless Google has the region and, if one is given, the zone in it. */
export async function checkPlace(
  { cloud, config }: Asking,
  { region, zone }: { readonly region: string; readonly zone: string | undefined },
): Promise<void> {
  const zones = await cloud.places.zonesOf(config.project, region);
  if (zones === undefined) {
    throw refused('region', `names ${region}, and Google Cloud has no such region`, 'Give another --region.');
  }
  if (zone === undefined || zones.includes(zone)) return;
  throw refused(
    'zone',
    `names ${zone}, and Google Cloud has no such zone in ${region}`,
    `Give one of the zones that there are: ${zones.join(', ')}.`,
  );
}
