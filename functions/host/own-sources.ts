/**
 * Maps stacks to our own source files. Bundles run without Node's `--enable-source-maps`: Firestore's client asks for a stack
 * with every call, so each start would read the maps (docs/build/decisions.md). Here they are read only for
 * errors that somebody should look into.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapping } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The bundle's folder. Parts of the bundle are loaded from a subfolder. */
const bundle = new URL(import.meta.url.includes('/chunks/') ? '..' : '.', import.meta.url);
/** By the URL of the mapped file. Undefined: not read yet. */
let maps: Map<string, SourceMap | undefined> | undefined;

/** Only maps beside the bundle. An error's message may name any file, and none is opened because of that. */
function findMaps(): Map<string, SourceMap | undefined> {
  try {
    const files = readdirSync(fileURLToPath(bundle), { recursive: true, encoding: 'utf8' });
    const mapped = files.filter((file) => file.endsWith('.mjs.map')).map((file) => file.slice(0, -'.map'.length));
    return new Map(mapped.map((file) => [new URL(file, bundle).href, undefined]));
  } catch {
    return new Map();
  }
}

/** Undefined: no map, because the bundled code there is not ours. */
function mapOf(url: string): SourceMap | undefined {
  maps ??= findMaps();
  if (!maps.has(url)) return undefined;
  const read = maps.get(url);
  if (read !== undefined) return read;
  try {
    const map = new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')));
    maps.set(url, map);
    return map;
  } catch {
    // Places without a readable map stay as they are.
    maps.delete(url);
    return undefined;
  }
}

/** Replaces each place in the bundle by one in a source, relative to the project's root. Other places stay. */
export const inOwnSources = (stack: string): string =>
  // The path may not contain a colon. Otherwise a long text that only looks like places would take quadratic time.
  stack.replace(
    /(file:\/\/[^\s():]+\.mjs):(\d+):(\d+)/g,
    (place: string, url: string, line: string, column: string) => {
      const found: Partial<SourceMapping> = mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1) ?? {};
      const { originalSource, originalLine = 0, originalColumn = 0 } = found;
      if (originalSource === undefined) return place;
      return `${originalSource.replace(/^(\.\.\/)+/, '')}:${originalLine + 1}:${originalColumn + 1}`;
    },
  );
