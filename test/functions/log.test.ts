import { expect } from 'chai';
import { createLog, withFields } from '../../functions/host/log.js';
import { registerHere, withRedactor } from '../../functions/host/redaction.js';
import { traceFields, traceIn } from '../../functions/tracing/trace.js';
import { readTraceparent, type Trace, traceparentOf } from '../../shared/trace.js';
import { version } from '../../shared/version.js';
import { redactorOf } from '../support/redactor.js';

describe('the log', () => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line), now: () => new Date(0) });
  beforeEach(() => {
    lines.length = 0;
  });

  it('is one JSON object a line, as Cloud Logging reads it', () => {
    withFields(log, { bootstrap: 'b1', 'logging.googleapis.com/trace': 'projects/p/traces/1' })('INFO', 'two\nlines', {
      n: 1,
    });
    expect(lines).to.have.length(1);
    expect(lines[0]).not.to.include('\n');
    expect(JSON.parse(lines[0] ?? '')).to.deep.equal({
      severity: 'INFO',
      time: '1970-01-01T00:00:00.000Z',
      message: 'two\nlines',
      bootstrap: 'b1',
      'logging.googleapis.com/trace': 'projects/p/traces/1',
      n: 1,
    });
  });

  it('tells Error Reporting of errors with their stack, and of nothing less', async () => {
    const ofApi = createLog({ write: (line) => lines.push(line), service: 'api' });
    ofApi('WARNING', 'not so bad', { error: new Error('small') });
    ofApi('ERROR', 'it failed', { error: new Error('outer', { cause: new Error('inner') }), bootstrap: 'b1' });
    await withRedactor(redactorOf('planted-secret'), async () =>
      ofApi('CRITICAL', 'it failed', { error: new Error('planted-secret') }),
    );
    ofApi('ERROR', 'without a stack', { error: 'refused' });
    const [small, outer, hidden, bare] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(small).to.have.property('error').and.include('small');
    expect(small).to.not.have.any.keys('@type', 'stack_trace');
    expect(outer).to.deep.include({
      '@type': 'type.googleapis.com/google.devtools.clouderrorreporting.v1beta1.ReportedErrorEvent',
      serviceContext: { service: 'api', version },
      message: 'it failed',
      bootstrap: 'b1',
    });
    expect(outer).to.not.have.property('error');
    expect(outer?.['stack_trace']).to.match(/^Error: outer\n\s+at .*caused by Error: inner/s);
    expect(JSON.stringify(hidden)).to.not.include('planted');
    expect(bare).to.include({ error: 'refused' });
  });

  it('shows errors with their causes', () => {
    log('ERROR', 'failed', { error: new Error('outer', { cause: new Error('inner') }) });
    expect(lines[0]).to.include('outer').and.include('inner');
  });

  it('leaves places in a stack that are in no bundle of its own', () => {
    const stack = 'Error: file:///etc/x.mjs:1:2\n    at f (file:///tmp/chunks/x.mjs:3:4)\n    at g (/srv/y.js:5:6)';
    log('ERROR', 'failed', { error: Object.assign(new Error(), { stack }) });
    expect(JSON.parse(lines[0] ?? '')).to.include({ stack_trace: stack });
  });

  it('cuts an error that is longer than Cloud Logging takes, whatever its text looks like', () => {
    log('ERROR', 'failed', { error: new Error('file://'.repeat(200_000)) });
    expect(lines[0]?.length).to.be.within(100_000, 256 * 1024);
  });

  it('never shows values that are to be hidden, wherever they stand', async () => {
    await withRedactor(redactorOf('planted-secret'), async () => {
      log('INFO', 'it is planted-secret', { deep: { list: ['planted-secret!'] }, error: new Error('planted-secret') });
      registerHere('planted-later');
      await Promise.resolve();
      log('INFO', 'planted-later');
    });
    expect(lines).to.have.length(2);
    expect(lines.join()).not.to.include('planted');
  });

  it('hides a short value only where it is all that a field holds, and no name of a flag', async () => {
    const redactor = redactorOf('true', 'ab-12', 'preemptible', 'planted-secret');
    const fields = { one: 'ab-12', list: ['true', 'untrue'], text: 'ab-12 is true', flag: '--preemptible=preemptible' };
    await withRedactor(redactor, async () =>
      log('INFO', '--preemptible is true, not --preemptible-planted-secret', fields),
    );
    expect(JSON.parse(lines[0] ?? '')).to.deep.include({
      message: '--preemptible is true, not --<secret>-<secret>',
      one: '<secret>',
      list: ['<secret>', 'untrue'],
      text: 'ab-12 is true',
      flag: '--preemptible=<secret>',
    });
  });
});

describe('the trace of a request', () => {
  const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  for (const [name, headers] of Object.entries({
    'the W3C header': { traceparent: `00-${trace}-${span}-01` },
    "the header of Google's front ends": { 'x-cloud-trace-context': `${trace}/${BigInt(`0x${span}`)};o=1` },
  })) {
    it(`is read from ${name}, with the span`, () => {
      const found = traceIn(headers);
      expect(found).to.deep.equal({ id: trace, spanId: span, sampled: true });
      expect(traceFields('p', found as Trace)).to.deep.equal({
        'logging.googleapis.com/trace': `projects/p/traces/${trace}`,
        'logging.googleapis.com/spanId': span,
      });
    });
  }

  it('is none where none is told, or nonsense', () => {
    for (const headers of [
      {},
      { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00` },
      { traceparent: `00-${trace}-${'0'.repeat(16)}-00` },
      { 'x-cloud-trace-context': 'x' },
      { 'x-cloud-trace-context': `${'0'.repeat(32)}/1` },
    ]) {
      expect(traceIn(headers), JSON.stringify(headers)).to.equal(undefined);
    }
  });

  it('has a new span where none that can be is told', () => {
    for (const text of [trace, `${trace}/0;o=1`, `${trace}/99999999999999999999`]) {
      const { id, spanId } = traceIn({ 'x-cloud-trace-context': text }) as Trace;
      expect([id, /^(?!0+$)[\da-f]{16}$/.test(spanId)]).to.deep.equal([trace, true]);
    }
  });

  it('goes on as it came', () => {
    const text = `00-${trace}-${span}-00`;
    expect(traceparentOf(readTraceparent(text) as Trace)).to.equal(text);
  });
});
