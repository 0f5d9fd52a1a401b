/** Runs checks in a project of their own, records every exchange, and removes the project in any case. */
import { randomBytes } from 'node:crypto';
import type { AuthClient } from 'google-auth-library';
import { type Environment, readConfig } from '../../functions/config.js';
import { Problem } from '../../shared/problems.js';
import { version } from '../../shared/version.js';
import { type Opened, openBench } from './bench.js';
import { type Bench, type Check, type Delegation, unknown, type Verdict } from './check.js';
import { removalChecks } from './checks/index.js';
import { isGoogle } from './endpoints.js';
import { beginRecording, type Header, type Recorder, type Result } from './recording.js';
import { createRedactor, type Redactor } from './redact.js';
import { type Seen, startRelay } from './relay.js';
import { Untried } from './untried.js';

export interface Order {
  readonly billingAccount: string;
  readonly parent: string;
  readonly region: string;
  readonly zone: string;
  readonly delegation?: Delegation | undefined;
  readonly service?: string | undefined;
  readonly checks: readonly Check[];
  /** File of the recording. */
  readonly out: string;
  readonly env: Environment;
  readonly credentials: AuthClient;
  /** Aborted by Ctrl-C. What was made is removed all the same. */
  readonly signal: AbortSignal;
  say(line: string): void;
  told(result: Result): void;
}

export interface Outcome {
  readonly project: string;
  readonly results: readonly Result[];
  /** False: a project stands, and must be removed by hand. */
  readonly removed: boolean;
}

/** As plinth's own projects: a name that says what it is, and chance. */
const newProjectId = (): string => `first-contact-${randomBytes(4).toString('hex')}`;

/** How long the project may stand if nothing removes it. plinth's cleanup leaves it alone: it is for people to see. */
const lifeSeconds = 2 * 60 * 60;

/** Refusals that say more of this account than of Google. */
const ofTheAccount = [
  'cloud-policy',
  'cloud-permission',
  'cloud-unavailable',
  'cloud-rate',
  'cloud-quota',
  'cloud-capacity',
];

function verdictOf(error: unknown, signal: AbortSignal): Verdict {
  if (signal.aborted) return unknown('the run was stopped');
  if (error instanceof Untried) return unknown(error.message);
  if (error instanceof Problem) {
    return { verdict: ofTheAccount.includes(error.code) ? 'unknown' : 'differs', seen: error.message };
  }
  return unknown(`the check failed: ${error instanceof Error ? error.message : String(error)}`);
}

async function tried(check: Check, bench: Bench, results: readonly Result[], signal: AbortSignal): Promise<Verdict> {
  if (signal.aborted) return unknown('the run was stopped');
  const lacking = (check.needs ?? []).find((id) => results.find((each) => each.check === id)?.verdict === 'unknown');
  if (lacking !== undefined) return unknown(`${lacking} is unknown`);
  try {
    return await check.run(bench);
  } catch (error) {
    return verdictOf(error, signal);
  }
}

/** Decoded, so that nothing hides in it, but for what would change its meaning. */
function pathOf(redactor: Redactor, sent: string): string {
  const { pathname, searchParams } = new URL(sent, 'http://loopback');
  const query = [...searchParams].map(
    ([name, value]) => `${name}=${redactor.text(value).replace(/[%&#+]/g, encodeURIComponent)}`,
  );
  return `${redactor.text(decodeURIComponent(pathname))}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

/** Writes what is seen, redacted. `now` says which check is running. */
function recordingOf(recorder: Recorder, redactor: Redactor, now: { check: string; wait: number | undefined }) {
  const parsed = (text: string): unknown => {
    if (text === '') return undefined;
    try {
      return redactor.json(JSON.parse(text));
    } catch {
      return redactor.text(text);
    }
  };
  const issued = new Set<string>();
  return (seen: Seen): void => {
    const { api, method, status, milliseconds, token } = seen;
    const request = parsed(seen.request);
    const response = parsed(seen.response);
    if (status === 200 && seen.path.includes(':generateAccessToken')) {
      issued.add(String((JSON.parse(seen.response) as { accessToken?: string }).accessToken));
    }
    const as = token === undefined ? '' : issued.has(token) ? redactor.text(token) : '{caller}';
    recorder.add({
      kind: 'exchange',
      check: now.check,
      ...(now.wait === undefined ? {} : { wait: now.wait }),
      as,
      api,
      method,
      path: pathOf(redactor, seen.path),
      ...(request === undefined ? {} : { request: request as never }),
      status,
      ...(response === undefined ? {} : { response: response as never }),
      milliseconds,
    });
  };
}

const redactorOf = (order: Order, project: string): Redactor =>
  createRedactor({
    project,
    'billing-account': order.billingAccount.replace('billingAccounts/', ''),
    parent: order.parent,
    'dns-project': order.delegation?.project,
    'dns-zone': order.delegation?.zone,
    domain: order.delegation?.domain,
    'own-project': order.env['PLINTH_PROJECT'],
  });

/** Undoes in reverse order. What fails is told, and the project's removal goes on. */
async function undoAll(undone: Opened['undone'], bench: Bench, say: (line: string) => void): Promise<boolean> {
  let went = true;
  for (const { what, work } of [...undone].reverse()) {
    try {
      await work(bench);
    } catch (error) {
      went = false;
      say(`Could not take away ${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return went;
}

export async function firstContact(order: Order): Promise<Outcome> {
  const { env, signal, say, out } = order;
  const project = newProjectId();
  const config = readConfig({
    ...env,
    PLINTH_PROJECT: project,
    PLINTH_DEPLOYMENT: 'first-contact',
    PLINTH_MACHINE_ACCESS: 'iap',
  });
  const bases = config.endpoints;
  const redactor = redactorOf(order, project);
  const header: Header = {
    kind: 'plinth-first-contact',
    form: 1,
    plinth: version,
    day: new Date().toISOString().slice(0, 10),
    origin: isGoogle(bases) ? 'google' : 'settings',
    region: order.region,
    zone: order.zone,
  };
  const recorder = beginRecording(out, header, (error) => {
    say(`The recording ends here, as ${out} cannot be written any more: ${error.message}`);
  });
  const now = { check: '', wait: undefined as number | undefined };
  const relay = await startRelay(bases, recordingOf(recorder, redactor, now));
  const results: Result[] = [];
  const note = (check: Check, { verdict, seen }: Verdict): void => {
    const result: Result = { kind: 'result', check: check.id, verdict, seen: redactor.text(seen) };
    results.push(result);
    recorder.add(result);
    order.told({ ...result, seen });
  };
  const open = (with_: AbortSignal) =>
    openBench({
      ...order,
      delegation: order.delegation,
      service: order.service,
      project,
      config,
      endpoints: relay.endpoints,
      signal: with_,
      labels: { 'plinth-first-contact': 'true', 'delete-after': `t${Math.floor(Date.now() / 1000) + lifeSeconds}` },
      waiting: (wait) => {
        now.wait = wait;
      },
    });
  say(`The project is ${project}. If this run dies, remove it: gcloud projects delete ${project}`);
  const { bench, undone } = open(signal);
  const run = async (checks: readonly Check[], on: Bench, until: AbortSignal) => {
    for (const check of checks) {
      now.check = check.id;
      note(check, await tried(check, on, results, until));
    }
  };
  try {
    await run(order.checks, bench, signal);
    now.check = 'removal';
    // Ctrl-C ends the checks, and not the removal.
    const never = new AbortController().signal;
    const last = open(never).bench;
    for (const [name, value] of bench.facts) last.facts.set(name, value);
    const went = await undoAll(undone, last, say);
    if (!bench.facts.has('project')) return { project, results, removed: went };
    await run(removalChecks, last, never);
    return { project, results, removed: went && last.facts.has('removed') };
  } finally {
    await relay.close();
  }
}
