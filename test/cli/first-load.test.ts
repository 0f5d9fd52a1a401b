/** What the command line reads before it knows its command: each package costs every command. */
import { readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const statically = /(?:^|[;\n])(?:import|export)(?:[^"'();]*\bfrom)?\s*["']([^"']+)["']/g;

const main = new URL('../../cli/main.js', import.meta.url);

function packagesOf(file: URL, seen: Set<string>): string[] {
  if (seen.has(file.href)) return [];
  seen.add(file.href);
  return [...readFileSync(file, 'utf8').matchAll(statically)].flatMap(([, of = '']) => {
    if (of.startsWith('.')) return packagesOf(new URL(of, file), seen);
    return isBuiltin(of) ? [] : [`${of} (by ${fileURLToPath(file).split('/').at(-1)})`];
  });
}

describe('the command line, before it knows its command', () => {
  it('loads no package', () => {
    const seen = new Set<string>();
    expect(packagesOf(main, seen)).to.deep.equal([]);
    expect(seen.size).to.be.greaterThan(10);
  });

  it('reads half a megabyte at most', () => {
    const seen = new Set<string>();
    packagesOf(main, seen);
    const kibibytes = [...seen].reduce((sum, file) => sum + statSync(fileURLToPath(file)).size / 1024, 0);
    expect(kibibytes).to.be.within(100, 512);
  });
});
