/**
 * Holds test/spec to what it was when it was written. Those files are the specification that this project is made from: flags,
 * rules between them, and transcripts of the API. Changed together with the code, they would prove nothing.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const folder = 'test/spec';
const door = '../support/spec-world.js';

/** SHA-256 of each file. Nothing here may ever change, be added or be taken away. */
const pinned: Readonly<Record<string, string>> = {
  'test/spec/bootstrap-command.test.ts': '3a0787a1b02914e7ce08c09bc27fbffe0c1bb50cfa6e4e0a3bd548d42f7e5387',
  'test/spec/bootstrap-flags.ts': '32c70dc7d75f392a24e258dcb4ec13c173e815dce5ee271dd54e0b137dd0256d',
  'test/spec/bootstrap-rules.ts': 'b7b6c41912af94cfa301ab766bb9edfd6a66494081b2732173de186fd5f5bc08',
  'test/spec/organization-api.test.ts': '548d3844be332d8f1af9958d4f28e4da65f80c5a94687e2c9719b010c638fdfd',
  'test/spec/organization-api.tools.test.ts': 'a98ece6800af4314f9ba1d03bafd8cdd2efd797a18eba9e1456c84137bc318c9',
  'test/spec/organization-transcripts.ts': 'a164b91afd76e0d58830ff7575d8a30b2df82e21960a09919e709aab818b76c8',
  'test/spec/tell-transcripts.ts': 'c0970b14ed6f85e9be7f97e2f888d2a46850bc2942235ab5502520f101bfe1b7',
};

const why = [
  `${folder} is pinned: no later work may change it.`,
  'It holds the specification: a product that does not fit it is wrong, not the test.',
  'If a part of the product moved or has another name, change test/support/spec-world.ts and what stands behind it.',
  'If a newer formatter wants other spaces, leave the folder out of its configuration.',
  'What is specified anew gets tests of its own, elsewhere.',
].join(' ');

const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

describe('the specification in test/spec', () => {
  it('is what it was', () => {
    const found = Object.fromEntries(
      files.map((file) => [file, createHash('sha256').update(readFileSync(file)).digest('hex')]),
    );
    expect(found, why).to.deep.equal(pinned);
  });

  it('meets the product through one door, so that it can stay as it is when the product is moved', () => {
    const imported = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\b(?:from|import\()\s*'([^']+)'/g)].map(
        ([, specifier = '']) => specifier,
      ),
    );
    expect(imported).to.include(door);
    const others = imported.filter((each) => !/^(?:node:|chai$|\.\/)/.test(each) && each !== door);
    expect(others, `${folder} imports node:, chai, its own files and ${door}`).to.deep.equal([]);
  });
});
