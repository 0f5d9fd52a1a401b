/** Root hooks of mocha: tell test/mutants/switch which test file runs. */
import { relative } from 'node:path';
import type { Context } from 'mocha';

const tell = (file: string | undefined): void => {
  if (file !== undefined) process.env['PLINTH_MUTANTS_FILE'] = relative(process.cwd(), file);
};

export const mochaHooks = {
  beforeAll(this: Context): void {
    tell(this.test?.parent?.suites[0]?.file);
  },
  beforeEach(this: Context): void {
    tell(this.currentTest?.file);
  },
};
