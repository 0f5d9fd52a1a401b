/** The text of a config when values change: what is not changed keeps every byte, in whatever YAML a person wrote it. */
import { expect } from 'chai';
import { editYaml } from '../../shared/install-config/edit.js';

const pem = (word: string) => `-----BEGIN CERTIFICATE-----\n${word}\n-----END CERTIFICATE-----\n`;

/** A change as lines of the text: what goes, and what stands there afterwards. */
const cases: Readonly<Record<string, readonly [text: string, wanted: object, edited: string]>> = {
  'a value before a comment': ['a: 1 # one\nb: 2\n', { a: 3, b: 2 }, 'a: 3 # one\nb: 2\n'],
  'a value in single quotes': ["a: 'x'   # c\n", { a: "it's" }, "a: 'it''s'   # c\n"],
  'a value in double quotes': ['a: "x"\n', { a: 'y\nz' }, 'a: "y\\nz"\n'],
  'a value that readers may take for another': ['a: x\n', { a: 'yes' }, 'a: "yes"\n'],
  'a value on a line of its own': ['a:\n  # c\n  x\nb: 1\n', { a: 'z', b: 1 }, 'a:\n  # c\n  z\nb: 1\n'],
  'a value with a tag': ['a: !!str 12 # c\n', { a: 13 }, 'a: 13 # c\n'],
  'a value at the end without a line end': ['a: x', { a: 'z' }, 'a: z'],
  'a value behind a byte order mark': ['\ufeffa: 1\n', { a: 2 }, '\ufeffa: 2\n'],
  'a value with an anchor': ['a: &x 1\nb: *x\n', { a: 2, b: 1 }, 'a: &x 2\nb: 1\n'],
  'an alias': ['a: &x 1\nb: *x # c\n', { a: 1, b: 2 }, 'a: &x 1\nb: 2 # c\n'],
  'an anchor that goes': ['a: &x {k: 1}\nb: *x\n', { b: { k: 1 } }, 'b: { k: 1 }\n'],
  'a value that an alias means, too': ['a: &x {k: 1}\nb: *x\n', { a: { k: 2 }, b: { k: 2 } }, 'a: &x {k: 2}\nb: *x\n'],
  'a text in lines': [
    `a: |  # c\n      ${pem('x').trimEnd().replaceAll('\n', '\n      ')}\n\n  # d\nb: 1\n`,
    { a: pem('yy'), b: 1 },
    `a: |  # c\n      ${pem('yy').trimEnd().replaceAll('\n', '\n      ')}\n\n  # d\nb: 1\n`,
  ],
  'a text in lines becomes none': ['a: >-\n   x\n   y\nb: 1\n', { a: 'x z', b: 1 }, 'a: |-\n   x z\nb: 1\n'],
  'a key is added': [
    '# top\na: 1 # one\n# two\nc: 3\n',
    { a: 1, b: 2, c: 3 },
    '# top\na: 1 # one\nb: 2\n# two\nc: 3\n',
  ],
  'a first key is added': ['# of c\nc: 3', { a: 1, c: 3 }, '# of c\nc: 3\na: 1'],
  'a key is added to a file with CRLF': [
    'a: 1\r\nc: 3\r\n',
    { a: 1, b: { x: 1 }, c: 3 },
    'a: 1\r\nb:\r\n  x: 1\r\nc: 3\r\n',
  ],
  'a key is added below a map': [
    'a:\n    x: 1\n    # in a\nb: 1\n',
    { a: { x: 1 }, m: pem('x'), b: 1 },
    `a:\n    x: 1\n    # in a\nm: |\n  ${pem('x').trimEnd().replaceAll('\n', '\n  ')}\nb: 1\n`,
  ],
  'a key is added within a map': [
    'a:\n    x: 1\nb: 1\n',
    { a: { x: 1, z: 2 }, b: 1 },
    'a:\n    x: 1\n    z: 2\nb: 1\n',
  ],
  'a key is taken out': [
    'a: 1\n# b\nb: # c\n  x: |\n    t\n  # in b\n# d\nd: 1\n',
    { a: 1, d: 1 },
    'a: 1\n# b\n# d\nd: 1\n',
  ],
  'a last key is taken out': ['a: 1\nb: 2 # x\n...\n', { a: 1 }, 'a: 1\n...\n'],
  'a key that is explicit': ['? a\n: 1\n? b\n: 2\n', { a: 3 }, '? a\n: 3\n'],
  'a map is emptied': ['a: # c\n  x: true\n  # d\n  y: true # e\nb: 1\n', { a: {}, b: 1 }, 'a: {} # c\n  # d\nb: 1\n'],
  'an empty map is filled': ['a: {} # c\nb: 1\n', { a: { x: true }, b: 1 }, 'a: # c\n  x: true\nb: 1\n'],
  'an empty list is filled at the end': ['b: 1\na: []', { b: 1, a: ['x', 'no'] }, 'b: 1\na:\n  - x\n  - "no"'],
  'items of a list': [
    'a:\n- x # 1\n# of y\n- y\n- z # 3\nb: 1\n',
    { a: ['w', 'x', 'z', 'v'], b: 1 },
    'a:\n- w\n- x # 1\n# of y\n- z # 3\n- v\nb: 1\n',
  ],
  'maps of a list': [
    'a:\n  - {ip: 1, n: x} # 1\n  - n: y\n    # of ip\n    ip: 2\n',
    {
      a: [
        { ip: 3, n: 'x' },
        { n: 'y', ip: 4 },
      ],
    },
    'a:\n  - {ip: 3, n: x} # 1\n  - n: y\n    # of ip\n    ip: 4\n',
  ],
  'a map in brackets': [
    '{a: 1, # one\n b: 2, c: [x, y , z], }\n',
    { a: 1, c: ['x', 'z', 'v'], d: { e: 1 } },
    '{a: 1, # one\n c: [x, z, v], d: { e: 1 }, }\n',
  ],
  'a map in brackets is left with none': ['a: {x: true, y: true} # c\n', { a: {} }, 'a: {} # c\n'],
  JSON: ['{"a": {"x": "1"}, "b": []}\n', { a: { y: 'z' }, b: ['c'] }, '{"a": {"y":"z"}, "b": [ c ]}\n'],
  'a merge of YAML 1.1': [
    '%YAML 1.1\n---\na: &x {k: 1}\nb:\n  <<: *x\n  l: 2\n',
    { a: { k: 1 }, b: { k: 3, l: 2 } },
    '%YAML 1.1\n---\na: &x {k: 1}\nb:\n  l: 2\n  k: 3\n',
  ],
  'a value beside an override': [
    'a:\n  override:   {x: 0644, y: &q 1.10, z: *q}\n  b: 1\noverride:\n        - is no map\n',
    { a: { b: 2 }, override: ['is no map'] },
    'a:\n  override:   {x: 0644, y: &q 1.10, z: *q}\n  b: 2\noverride:\n        - is no map\n',
  ],
  'all but an override': ['a:\n  x: 1\n  override: {y: 1e3}\n', { a: {} }, 'a:\n  override: {y: 1e3}\n'],
  nothing: ['a : 0x10\n"b"  :   \'x\' \n', { a: 16, b: 'x' }, 'a : 0x10\n"b"  :   \'x\' \n'],
};

describe('an edit of a YAML text', () => {
  for (const [name, [text, wanted, edited]] of Object.entries(cases)) {
    it(`changes ${name}, and nothing beside it`, () => {
      expect(editYaml(text, wanted as Record<string, unknown>)).to.equal(edited);
    });
  }
});
