/** Functions take time and chance from their context. Only what a context is made of has them of its own, and what runs elsewhere. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

/** Each is a member of the context, belongs to the process itself, or runs elsewhere. Whoever builds another world swaps it whole. */
const ofTheirOwn = {
  'functions/host/': 'the clock, the chance, the keys and the end of a process',
  'functions/remote/': 'the machines',
  'functions/tracing/': 'the traces',
  'functions/cloud/name-servers.ts': 'the name servers of the cloud, over sockets',
} as const;

const own =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bset(?:Timeout|Interval|Immediate)\b|\bMath\.random\b|\brandom(?:UUID|Bytes|Int)\b|\bhrtime\b/;

const isComment = (line: string): boolean => /^\s*(?:\*|\/\/|\/\*)/.test(line);

const found = readdirSync('functions', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => join('functions', file))
  .filter((file) => !Object.keys(ofTheirOwn).some((each) => file.startsWith(each)))
  .flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) => (own.test(line) && !isComment(line) ? `${file}:${i + 1}: ${line.trim()}` : [])),
  );

describe('clock and chance', () => {
  it('come from the context: clock.now(), clock.pause(), clock.after(), random.bytes() and the like', () => {
    expect(found).to.deep.equal([]);
  });

  it('are of their own only where something needs it', () => {
    const idle = Object.keys(ofTheirOwn).filter((place) => {
      const files = place.endsWith('/')
        ? readdirSync(place, { recursive: true, encoding: 'utf8' })
            .filter((file) => file.endsWith('.ts'))
            .map((file) => join(place, file))
        : [place];
      return !files.some((file) => own.test(readFileSync(file, 'utf8')));
    });
    expect(idle).to.deep.equal([]);
  });
});
