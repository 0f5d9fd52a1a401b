/** Mocha's own report, and beside it what failed, as text for the end of CI's log (FAILURES) and as a list of files (FAILED_FILES). */
const { appendFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

const { EVENT_TEST_FAIL } = Runner.constants;
const linesShown = 25;

const note = (file, text) => {
  if (file !== undefined) appendFileSync(file, text);
};

module.exports = class Failures extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      const lines = String(error.stack ?? error.message ?? error)
        .split('\n')
        .slice(0, linesShown);
      note(process.env.FAILURES, [`✗ ${test.fullTitle()}`, ...lines, ''].join('\n').concat('\n'));
      // A hook has no file of its own.
      const file = test.file ?? test.parent?.file;
      if (file !== undefined) note(process.env.FAILED_FILES, `${file}\n`);
    });
  }
};
