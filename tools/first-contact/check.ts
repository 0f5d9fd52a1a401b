/** What a check is: one thing that plinth or the simulated cloud believes of Google, and how it is tried. */
import type { Cloud } from '../../functions/cloud/index.js';
import type { GoogleApi } from '../../functions/config.js';
import type { Item } from './price.js';

export interface Verdict {
  /** `unknown`: it couldn't be tried here. */
  readonly verdict: 'held' | 'differs' | 'unknown';
  /** What was seen, or why it couldn't be tried. */
  readonly seen: string;
}

export const held = (seen: string): Verdict => ({ verdict: 'held', seen });
export const differs = (seen: string): Verdict => ({ verdict: 'differs', seen });
export const unknown = (seen: string): Verdict => ({ verdict: 'unknown', seen });
export const heldIf = (holds: boolean, seen: string): Verdict => (holds ? held(seen) : differs(seen));

export interface Reply {
  readonly status: number;
  readonly body: Tree;
  /** The canonical status, the legacy reason and the reasons in the details. */
  readonly reasons: readonly string[];
  readonly message: string;
}

export type Tree = Readonly<Record<string, unknown>>;

/** The zone above, in which a domain is delegated. */
export interface Delegation {
  readonly project: string;
  readonly zone: string;
  /** Without a final dot. */
  readonly domain: string;
}

export interface Bench {
  /** The throw-away project. */
  readonly project: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `billingAccounts/…` */
  readonly billingAccount: string;
  readonly parent: string;
  readonly region: string;
  readonly zone: string;
  readonly delegation: Delegation | undefined;
  /** URL of a deployed service. */
  readonly service: string | undefined;
  /** Where IAP takes tunnels. */
  readonly tunnelUrl: string;
  /** plinth's own clients. */
  readonly cloud: Cloud;
  readonly signal: AbortSignal;
  /** `POST /v1/projects`. Without a token it speaks as the caller. */
  ask(api: GoogleApi, line: string, body?: unknown, token?: string): Promise<Reply>;
  /** Looks again and again until there is something, or the seconds are over. It must ask one request each time. */
  until<T>(seconds: number, look: () => Promise<T | undefined>): Promise<Found<T> | undefined>;
  /** Facts that a check leaves for those that need it. */
  readonly facts: Map<string, string>;
  fact(name: string): string;
  /**
   * Work for the end, in reverse order, before the project goes. It gets a bench that Ctrl-C does not stop. What stands outside
   * of the project has a command to remove it by hand, which is told in case the run is killed.
   */
  undo(what: string, work: Undoing, byHand?: string): void;
}

export type Undoing = (bench: Bench) => Promise<unknown>;

export interface Found<T> {
  readonly value: T;
  readonly seconds: number;
}

/** Who says it: Google's documents, its data of roles, public issues; or nobody, and it is believed. */
type Source = 'documented' | 'data' | 'reported' | 'believed';

export interface Check {
  readonly id: string;
  /** One plain sentence. */
  readonly believes: string;
  readonly source: Source;
  /** What it makes. */
  readonly makes?: string;
  readonly costs?: readonly Item[];
  /** Checks that must have held or differed before. */
  readonly needs?: readonly string[];
  run(bench: Bench): Promise<Verdict>;
}
