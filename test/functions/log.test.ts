import { expect } from 'chai';
import { createLog, redact, withFields } from '../../functions/log.js';

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

  it('shows errors with their causes', () => {
    log('ERROR', 'failed', { error: new Error('outer', { cause: new Error('inner') }) });
    expect(lines[0]).to.include('outer').and.include('inner');
  });

  it('never shows values that are to be hidden, wherever they stand', () => {
    const secrets = ['planted-secret'];
    const careful = redact(log, () => secrets);
    careful('INFO', 'it is planted-secret', {
      deep: { list: ['planted-secret!'] },
      error: new Error('planted-secret'),
    });
    secrets.push('planted-later');
    careful('INFO', 'planted-later');
    expect(lines.join()).not.to.include('planted');
  });
});
