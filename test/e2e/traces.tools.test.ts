/** The trace of an install on machines. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { startCollector } from '../support/collector.js';
import { needMachines } from '../support/machines.js';
import { clientSecret, makeScene, succeeded } from '../support/scene.js';

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
