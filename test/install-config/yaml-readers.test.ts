import { expect } from 'chai';
import { CORE_SCHEMA, load, YAML11_SCHEMA } from 'js-yaml';
import { parse } from 'yaml';
import { keysAtHand, makeBootstrap } from './made-bootstrap.js';

/** Each is text to whoever gave it, and something else, or nothing at all, to some reader of YAML 1.1 or 1.2. */
const misread = [
  ...['yes', 'No', 'on', 'OFF', 'y', 'N', 'true', 'null', '~', 'Null'],
  ...['0', '-1', '+1', '007', '0o7', '0x1F', '0b101', '1_000', '1,000', '1.5', '.5', '1e3', '1_0.2_5', '1:2'],
  ...['12:30:45', '-190:20:30.15', '.inf', '-.INF', '.nan', '685.230_15e+03', '0x_1', '+.5', '._1', '1.2.3'],
  ...['2024-01-01', '2024-1-1', '2001-12-14t21:59:43.10-05:00', '2001-12-14 21:59:43.10 -5'],
  ...[
    '=',
    '<<',
    '<',
    '-',
    '?',
    ':',
    '',
    '---',
    '...',
    '%x',
    '@x',
    '`x',
    '!x',
    '&x',
    '*x',
    '|',
    '>',
    '#x',
    'a #b',
    'a: b',
  ],
  ...['[', ']', '{', '}', ',', '"', "'", "it's", 'say "so"', ' begins', 'ends ', '\\n', 'ends:', '- a', '? a'],
  ...[
    'line\u2028separator',
    'paragraph\u2029separator',
    'next\u0085line',
    '\ufeffmark',
    'no\u00a0break',
    'Zoë',
    '日本',
    '🎈',
  ],
].filter((value) => value !== '');

describe('config.yaml', () => {
  before(keysAtHand);

  const readers: Readonly<Record<string, (text: string) => unknown>> = {
    'yaml, as YAML 1.2': (text) => parse(text, { version: '1.2' }),
    'yaml, as YAML 1.1': (text) => parse(text, { version: '1.1' }),
    'js-yaml, as YAML 1.2': (text) => load(text, { schema: CORE_SCHEMA }),
    'js-yaml, as YAML 1.1': (text) => load(text, { schema: YAML11_SCHEMA }),
  };

  it('is read alike by readers of YAML 1.1 and 1.2, whatever the flags say', async () => {
    const given = { internalFlags: misread, previewFlags: misread, featureFlags: ['yes'], datacenterName: '12:30:45' };
    const files = await makeBootstrap({ options: given }).go();
    const text = files['dc1']?.configText ?? '';
    const switches = Object.fromEntries(misread.map((name) => [name, true]));
    for (const [reader, read] of Object.entries(readers)) {
      const { dataCenter, platform } = read(text) as Record<string, Record<string, unknown>>;
      expect(dataCenter?.['name'], reader).to.equal('12:30:45');
      expect(platform?.['internal'], reader).to.deep.equal(misread);
      expect(platform?.['preview'], reader).to.deep.equal(switches);
      expect(platform?.['features'], reader).to.deep.equal({ yes: true });
      expect(read(text), reader).to.deep.equal(parse(text));
    }
  });
});
