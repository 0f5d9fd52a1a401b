/** A bootstrap where nobody takes its spans: it ends as well, and as soon. */
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { functionNames } from '../../shared/names.js';
import { startCollector, traceIdsIn } from '../support/collector.js';
import { argsOf, makeScene, outcomeOf, succeeded } from '../support/scene.js';

describe('without anybody who takes its spans, a bootstrap', function () {
  this.timeout(240_000);
  for (const how of ['badly', 'never'] as const) {
    it(`succeeds, where the collector answers ${how}, and says so once a function`, async () => {
      const collector = await startCollector();
      collector.answer(how);
      const scene = await makeScene({ settings: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
      try {
        const alice = await scene.caller();
        const env = { ...alice.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
        const run = await runPlinth(['beta', 'bootstrap-cloud', '--json', ...argsOf('untaken')], { ...alice, env });
        succeeded(outcomeOf(run));
        expect(run.stderr).to.include('The trace of this command cannot be sent');
        const said = scene.stack.logs.filter((line) => line.includes('Traces cannot be sent'));
        expect(said.length).to.be.within(1, Object.keys(functionNames).length);
        expect(scene.stack.logs.filter((line) => line.includes('"severity":"ERROR"'))).to.deep.equal([]);
      } finally {
        await scene.close();
        await collector.close();
      }
    });
  }

  it('and with no exporter set, sends nothing, and has one trace in its logs all the same', async () => {
    const scene = await makeScene();
    try {
      const alice = await scene.caller();
      const run = await alice.start('plain', { verbose: true }).ended;
      const { id } = succeeded(outcomeOf(run));
      await scene.stack.settle();
      const lines = scene.stack.logs.filter((line) => line.includes(`"bootstrap":"${id}"`));
      expect([...traceIdsIn(lines)]).to.deep.equal([/trace ([0-9a-f]{32})/.exec(run.stderr)?.[1]]);
    } finally {
      await scene.close();
    }
  });
});
