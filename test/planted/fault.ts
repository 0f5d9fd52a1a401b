/** A fault to plant, and the tests that must notice it. */

/** A kind of worlds that are played from seeds. */
export type SimulatedWorld = 'organizations' | 'bootstraps';

export interface Edit {
  /** Stands exactly once in the sources of the product, whichever file holds it. */
  readonly find: string;
  readonly put: string;
}

export interface Fault {
  /** What is broken then. */
  readonly name: string;
  /** The commit that mended it once, `new`, or `guard` for a guard that is taken out. */
  readonly source: string;
  readonly edits: readonly Edit[];
  /** Globs of compiled tests, beneath dist/test. */
  readonly tests: readonly string[];
  /** Stands in the name of a test that must fail. */
  readonly fails: string;
  /** The simulation of that world must find it as well. */
  readonly simulated?: SimulatedWorld;
}

/** A fault that shows only in one order of events out of many. The simulation of that world must find it. */
export interface ScheduleFault extends Pick<Fault, 'name' | 'edits'> {
  readonly world: SimulatedWorld;
}
