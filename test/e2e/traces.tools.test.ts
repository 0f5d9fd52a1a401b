/** Traces of installs on machines, and a bootstrap where nobody takes its spans: it ends as well, and as soon. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/packages/publish.js';
import { functionNames } from '../../shared/names.js';
import { startCollector, traceIdsIn } from '../support/collector.js';
import { needMachines } from '../support/machines.js';
import { argsOf, clientSecret, makeScene, outcomeOf, succeeded } from '../support/scene.js';

describe('the trace of an install', function () {
  this.timeout(240_000);

  it('holds what its steps do on machines, and no word of what is said there', async () => {
    needMachines();
    const folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    const collector = await startCollector();
    const scene = await makeScene({
      machines: 'embedded',
      settings: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    });
    try {
      const made = await makePackage(folder);
      await publishPackage(scene.cloud, made);
      const alice = await scene.caller();
      const flags = { 'install-version': made.version, 'install-skip-steps': ['postgres'] };
      const { instances } = succeeded(await alice.bootstrap('traced-install', flags));
      expect(instances.map(({ id }) => id)).to.include('install:dc1');
      await scene.stack.settle();
      const steps = new Map(collector.spans.map((span) => [span.spanId, span]));
      const below = (name: string) =>
        collector.spans.filter(({ parentSpanId }) => steps.get(parentSpanId ?? '')?.name === name);
      const started = below('install').filter(({ name }) => name === 'job start');
      expect(started).to.have.length(1);
      expect(started[0]?.attributes).to.include({ 'plinth.machine': 'jumpbox' });
      const looks = below('install').filter(({ name }) => name === 'job poll');
      expect(looks.at(-1)?.attributes).to.include({ 'plinth.job_state': 'exited', 'plinth.exit_code': 0 });
      const logins = collector.spans.filter(({ name }) => name === 'ssh connect');
      const names = new Set(logins.map(({ attributes }) => attributes['plinth.machine']));
      expect(names).to.include.all.keys('jumpbox', 'k0s-1', 'ceph-1');
      const sent = collector.received.join('\n');
      for (const said of [clientSecret, '/var/lib/plinth', 'systemctl']) expect(sent).to.not.include(said);
    } finally {
      await scene.close();
      await collector.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

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
