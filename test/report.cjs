/** Mocha's own report; what came of each test also goes, as JSON, into the file that PLINTH_TEST_RESULTS names. */
const { writeFileSync } = require('node:fs');
const { relative } = require('node:path');
const { reporters, Runner } = require('mocha');

const { EVENT_HOOK_END, EVENT_RUN_END, EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING } = Runner.constants;
const linesShown = 25;

const fileOf = (runnable) => {
  // A hook has no file of its own.
  const file = runnable.file ?? runnable.parent?.file;
  return file === undefined ? undefined : relative(process.cwd(), file);
};
const linesOf = (error) =>
  String(error.stack ?? error.message ?? error)
    .split('\n')
    .slice(0, linesShown);

module.exports = class Report extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const results = [];
    const note = (state) => (runnable, error) =>
      results.push({
        state,
        file: fileOf(runnable),
        test: runnable.fullTitle?.() ?? runnable.title,
        ms: runnable.duration ?? 0,
        ...(state === 'failed' ? { error: linesOf(error) } : {}),
      });
    runner.on(EVENT_TEST_PASS, note('passed'));
    runner.on(EVENT_TEST_PENDING, note('pending'));
    runner.on(EVENT_TEST_FAIL, note('failed'));
    runner.on(EVENT_HOOK_END, note('hook'));
    const file = process.env.PLINTH_TEST_RESULTS;
    if (file !== undefined) runner.once(EVENT_RUN_END, () => writeFileSync(file, JSON.stringify(results)));
  }
};
