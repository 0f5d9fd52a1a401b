/** One bootstrap is one trace: command, calls, messages and steps, as a collector gets them by OTLP. Nothing depends on it. */
import { expect } from 'chai';
import { functionUrl } from '../../local/stack/deployment.js';
import { schedulerHeaders } from '../../local/stack/front-end.js';
import { functionNames } from '../../shared/names.js';
import { type CollectedSpan, type Collector, startCollector, traceIdsIn } from '../support/collector.js';
import { until } from '../support/halves.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, clientSecret, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

describe('the trace of a bootstrap', function () {
  this.timeout(240_000);
  let collector: Collector;
  let scene: Scene;
  let alice: Caller;
  before(async () => {
    collector = await startCollector();
    scene = await makeScene({ settings: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    await collector?.close();
  });

  const traced = (args: readonly string[]) =>
    runAt(args, { ...alice, env: { ...alice.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  const bootstrap = (name: string, ...more: string[]) =>
    traced(['beta', 'bootstrap-cloud', '--json', '--verbose', ...argsOf(name), ...more]);
  /** Those of one trace, once those who still talked about it are silent. */
  async function spansOf(traceId: string): Promise<CollectedSpan[]> {
    await scene.stack.settle();
    const own = () => collector.spans.filter((span) => span.traceId === traceId);
    await until('all parents', async () => {
      const ids = new Set(own().map(({ spanId }) => spanId));
      return own().every(({ parentSpanId }) => parentSpanId === undefined || ids.has(parentSpanId)) ? true : undefined;
    });
    return own();
  }
  const shownTrace = (stderr: string): string => /^\s*trace ([0-9a-f]{32})$/m.exec(stderr)?.[1] ?? '';

  let first: string;
  let bootstrapId: string;

  it('holds the command, its calls, the messages and every step, each with its parent', async () => {
    const run = await bootstrap('traced');
    const { id, instances } = succeeded(outcomeOf(run));
    bootstrapId = id;
    first = shownTrace(run.stderr);
    const spans = await spansOf(first);
    const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
    expect(roots.map(({ name, service }) => ({ name, service }))).to.deep.equal([
      { name: 'plinth beta bootstrap-cloud', service: 'plinth' },
    ]);
    const steps = spans.filter(({ attributes }) => attributes['plinth.step'] !== undefined);
    const done = steps.filter(({ attributes }) => attributes['plinth.outcome'] === 'done');
    expect(
      new Set(
        done.map(({ attributes }) => [attributes['plinth.step'], attributes['plinth.key']].filter(Boolean).join(':')),
      ),
    ).to.deep.equal(new Set(instances.map((each) => each.id)));
    for (const { attributes } of done) {
      expect(attributes).to.include({ 'plinth.bootstrap': id, 'plinth.generation': 1 });
      expect(attributes['plinth.attempt']).to.be.at.least(1);
    }
    // Upwards from any step: the step that it followed, or message, publishing, and the step or the request that sent it.
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const above = ({ parentSpanId }: CollectedSpan) => byId.get(parentSpanId ?? '');
    const path = (span: CollectedSpan | undefined): string[] =>
      span === undefined ? [] : [span.name.replace(/ plinth-\w+-steps/, ''), ...path(above(span))];
    expect(path(done.find(({ name }) => name === 'project'))).to.deep.equal([
      'project',
      // Whose end made it ready, in the same invocation.
      'policies',
      'step message',
      'publish',
      'POST /bootstraps',
      'POST /bootstraps',
      'plinth beta bootstrap-cloud',
    ]);
    expect(path(done.find(({ name }) => name === 'vm')).length).to.be.greaterThan(6);
    expect(new Set(spans.map(({ service }) => service))).to.include.members(['plinth', 'bootstraps', 'run-cloud-step']);
    expect(spans.map(({ name }) => name)).to.include.members([
      'GET /bootstraps/{id}/events',
      'compute.instances.insert',
    ]);
  });

  it('is the one of the logs, and of those who look at it again', async () => {
    const lines = scene.stack.logs.filter((line) => line.includes(`"bootstrap":"${bootstrapId}"`));
    expect(traceIdsIn(lines)).to.deep.equal(new Set([first]));
  });

  it('goes on with the same command again, which has a trace of its own', async () => {
    const run = await bootstrap('traced', '--project-ttl', '5h');
    succeeded(outcomeOf(run));
    const second = shownTrace(run.stderr);
    expect(second)
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.to.equal(first);
    const again = (await spansOf(first)).filter(({ attributes }) => attributes['plinth.generation'] === 2);
    expect(again.map(({ name }) => name)).to.include('project');
    const begun = again.find(({ name }) => name === 'policies');
    expect(begun?.links.map(({ traceId }) => traceId)).to.deep.equal([second]);
  });

  it('goes on with what sweep sends', async () => {
    const before = collector.spans.length;
    const removal = await traced(['beta', 'bootstrap-cloud', 'cleanup', 'traced', '--yes']);
    expect(removal.exitCode, removal.stderr).to.equal(0);
    const undone = (await spansOf(first)).filter((span) => collector.spans.indexOf(span) >= before);
    expect(undone.map(({ name }) => name)).to.include('undo project');
    const url = functionUrl(scene.stack.url, functionNames.sweep);
    const headers = await schedulerHeaders(scene.cloud.identity, url);
    expect((await fetch(url, { method: 'POST', headers })).status).to.equal(200);
    // Cloud Scheduler may call cleanup at the same moment.
    const swept = collector.spans.slice(before).map(({ name, service }) => [name, service]);
    expect(swept).to.deep.include(['sweep', 'sweep']);
  });

  it('tells no secret, token, e-mail or value of an option', () => {
    const all = collector.received.join('\n');
    const project = 'traced';
    for (const text of [clientSecret, alice.env['PLINTH_TOKEN'], alice.email, '@', 'somebody', 'client-id']) {
      expect(all).not.to.include(text);
    }
    expect(all).not.to.match(/ya29\.|eyJ|authorization/i);
    expect(all).not.to.include(`${project}.example.com`);
  });
});
