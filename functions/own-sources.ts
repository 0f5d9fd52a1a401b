/**
 * Stacks by our own files. Bundles are served without Node's `--enable-source-maps`: Firestore's client asks for a stack with
 * every call, so each start would read the maps (docs/decisions/what-is-deployed.md). Here they are read when something has
 * gone wrong. Called by log.ts.
 */
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapping } from 'node:module';

/** Of the bundle; parts of it are loaded from a folder of their own. */
const bundle = new URL(import.meta.url.includes('/chunks/') ? '..' : '.', import.meta.url).href;
const maps = new Map<string, SourceMap | undefined>();

/** Undefined: there is none, as what was bundled there is not ours. */
function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url)) {
    let map: SourceMap | undefined;
    try {
      map = new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')));
    } catch {
      // Such a place stays as it is.
    }
    maps.set(url, map);
  }
  return maps.get(url);
}

/** Each place in the bundle that a stack names becomes one in a source, from the top of the project; others stay. */
export const inOwnSources = (stack: string): string =>
  stack.replace(/(file:\/\/[^\s()]+\.mjs):(\d+):(\d+)/g, (place: string, url: string, line: string, column: string) => {
    const map = url.startsWith(bundle) ? mapOf(url) : undefined;
    const found: Partial<SourceMapping> = map?.findEntry(Number(line) - 1, Number(column) - 1) ?? {};
    const { originalSource, originalLine = 0, originalColumn = 0 } = found;
    if (originalSource === undefined) return place;
    return `${originalSource.replace(/^(\.\.\/)+/, '')}:${originalLine + 1}:${originalColumn + 1}`;
  });
