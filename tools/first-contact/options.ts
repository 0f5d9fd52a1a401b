/** The command line of `npm run first-contact`. */
import { parseArgs } from 'node:util';
import type { Delegation } from './check.js';

export const usage = `npm run first-contact -- --billing-account ID --parent folders/N [options]

Tries what plinth believes of Google, in a throw-away project on your account. It removes the project at the end.

  --billing-account ID  who pays: 01AB23-45CD67-89EF01
  --parent P            where the project is made: folders/N or organizations/N
  --region R            default europe-west4
  --zone Z              default <region>-a
  --domain D            with --dns-project P and --dns-zone Z: a domain whose zone gets one NS set for some minutes
  --service URL         a deployed plinth, for the checks of audiences and invokers
  --out FILE            the recording, redacted; default first-contact.jsonl
  --only CHECK          this check and what it needs; may be repeated
  --list                shows all checks, and makes nothing
  --json                results as lines of JSON
  --yes                 does not ask

Credentials are Application Default Credentials: gcloud auth application-default login.
Exit code: 0 if nothing differs, 1 if something does, 2 for a wrong call, 3 if something was left standing, 130 after Ctrl-C.
`;

export class BadCall extends Error {}

export interface Options {
  readonly billingAccount: string;
  readonly parent: string;
  readonly region: string;
  readonly zone: string;
  readonly delegation: Delegation | undefined;
  readonly service: string | undefined;
  readonly out: string;
  readonly only: readonly string[];
  readonly json: boolean;
  readonly yes: boolean;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        'billing-account': text,
        parent: text,
        region: { ...text, default: 'europe-west4' },
        zone: text,
        domain: text,
        'dns-project': text,
        'dns-zone': text,
        service: text,
        out: { ...text, default: 'first-contact.jsonl' },
        only: { ...text, multiple: true, default: [] as string[] },
        list: flag,
        json: flag,
        yes: flag,
        help: flag,
      },
    }).values;
  } catch (error) {
    throw new BadCall((error as Error).message);
  }
}

type Values = ReturnType<typeof parsed>;

function fitting(name: 'billing-account' | 'parent', value: string | undefined, pattern: RegExp, form: string): string {
  if (value === undefined) throw new BadCall(`--${name} is missing.`);
  if (!pattern.test(value)) throw new BadCall(`--${name} must be ${form}, not "${value}".`);
  return value;
}

function delegationIn(values: Values): Delegation | undefined {
  const { domain, 'dns-project': project, 'dns-zone': zone } = values;
  if (domain === undefined && project === undefined && zone === undefined) return undefined;
  if (domain === undefined || project === undefined || zone === undefined) {
    throw new BadCall('--domain, --dns-project and --dns-zone go together.');
  }
  return { domain: domain.replace(/\.$/, ''), project, zone };
}

export function readOptions(args: string[]): Options | 'help' | 'list' {
  const values = parsed(args);
  if (values.help) return 'help';
  if (values.list) return 'list';
  const account = fitting(
    'billing-account',
    values['billing-account'],
    /^(?:billingAccounts\/)?[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$/,
    'an id such as 01AB23-45CD67-89EF01',
  );
  const { region, only, json, yes, out, service } = values;
  return {
    billingAccount: `billingAccounts/${account.replace('billingAccounts/', '')}`,
    parent: fitting(
      'parent',
      values.parent,
      /^(?:folders|organizations)\/\d+$/,
      'folders/<number> or organizations/<number>',
    ),
    region,
    zone: values.zone ?? `${region}-a`,
    delegation: delegationIn(values),
    service: service?.replace(/\/$/, ''),
    out,
    only,
    json,
    yes,
  };
}
