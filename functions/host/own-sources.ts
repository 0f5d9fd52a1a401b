/**
 * Stacks by our own files. Bundles are served without Node's `--enable-source-maps`: Firestore's client asks for a stack with
 * every call, so each start would read the maps (docs/build/decisions/what-is-deployed.md). Here they are read when something
 * has gone wrong that somebody is to look after.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapping } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Of the bundle; parts of it are loaded from a folder of their own. */
const bundle = new URL(import.meta.url.includes('/chunks/') ? '..' : '.', import.meta.url);
/** By the URL of what they are of; undefined: not read yet. */
let maps: Map<string, SourceMap | undefined> | undefined;

/** Those that lie beside the bundle: what a text names, and an error's message may name anything, is looked for nowhere else. */
function findMaps(): Map<string, SourceMap | undefined> {
  try {
    const files = readdirSync(fileURLToPath(bundle), { recursive: true, encoding: 'utf8' });
    const mapped = files.filter((file) => file.endsWith('.mjs.map')).map((file) => file.slice(0, -'.map'.length));
    return new Map(mapped.map((file) => [new URL(file, bundle).href, undefined]));
  } catch {
    return new Map();
  }
}

/** Undefined: there is none, as what was bundled there is not ours. */
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
    // Such a place stays as it is.
    maps.delete(url);
    return undefined;
  }
}

/** Each place in the bundle that a stack names becomes one in a source, from the top of the project; others stay. */
export const inOwnSources = (stack: string): string =>
  // No colon within the path: else a long text that only looks like places would take its length squared.
  stack.replace(
    /(file:\/\/[^\s():]+\.mjs):(\d+):(\d+)/g,
    (place: string, url: string, line: string, column: string) => {
      const found: Partial<SourceMapping> = mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1) ?? {};
      const { originalSource, originalLine = 0, originalColumn = 0 } = found;
      if (originalSource === undefined) return place;
      return `${originalSource.replace(/^(\.\.\/)+/, '')}:${originalLine + 1}:${originalColumn + 1}`;
    },
  );
