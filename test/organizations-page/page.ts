/** The commands of docs/use/organizations.md with the output that the page shows of each, and how that compares with a run. */

export const pageFile = 'docs/use/organizations.md';
/** From here on somebody reads who has not run what is above. Each part is walked on a stack of its own. */
const secondPart = '## The same by curl';

export interface Shown {
  readonly command: string;
  /** Lines. `…` alone stands for any number of them. */
  readonly output: readonly string[];
}

/** A fenced block whose first line is a command. */
const blocks = /^```\n(\$ [\s\S]*?)^```$/gm;

export const partsOf = (page: string): readonly string[] => {
  const at = page.indexOf(secondPart);
  if (at < 0) throw new Error(`${pageFile} has no ${secondPart}`);
  return [page.slice(0, at), page.slice(at)];
};

export const shownIn = (part: string): Shown[] =>
  [...part.matchAll(blocks)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((each) => {
        const [command = '', ...output] = each.trimEnd().split('\n');
        return { command, output };
      }),
  );

/** The same part with these commands and outputs in place of its own, in their order. */
export function rewritten(part: string, all: readonly Shown[]): string {
  const left = [...all];
  return part.replaceAll(blocks, (_, block: string) => {
    const some = left.splice(0, block.match(/^\$ /gm)?.length ?? 0);
    return `\`\`\`\n${some.map(({ command, output }) => `${[`$ ${command}`, ...output].join('\n')}\n`).join('')}\`\`\``;
  });
}

/** What each run draws anew, and later commands may name. */
const kinds: readonly RegExp[] = [
  /\b([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g,
  /(?:is made: |"teamId":)(\d+)(?![\w-])/g,
  /^etag: ("[\w-]{43}")/gm,
  /\b(demo-[0-9a-z]{8})\b/g,
];

const drawnIn = (text: string, kind: RegExp): string[] => [
  ...new Set([...text.matchAll(kind)].map(([, id = '']) => id)),
];

/** Learns which of the run stands for which of the page, by their places in both. */
export function learn(ids: Map<string, string>, shown: readonly string[], ran: readonly string[]): void {
  for (const kind of kinds) {
    const now = drawnIn(ran.join('\n'), kind);
    for (const [i, id] of drawnIn(shown.join('\n'), kind).entries()) {
      const of = now[i];
      if (of !== undefined && !ids.has(id)) ids.set(id, of);
    }
  }
}

export function translate(text: string, ids: Iterable<readonly [string, string]>): string {
  let translated = text;
  for (const [from, to] of ids) {
    translated = translated.replaceAll(new RegExp(`(?<![\\w-])${from}(?![\\w-])`, 'g'), () => to);
  }
  return translated;
}

/** Without what no two runs have alike (moments, how long ago, what a few seconds cost), and without the widths of columns. */
const plain = (line: string): string =>
  line
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, '<time>')
    .replaceAll(/(?:\d+[dhms] ?)+(?= |$)/g, '<while>')
    .replaceAll(/[<~]0\.\d\d USD/g, '<cost>')
    .replaceAll(/\b[0-9a-f]{14}-[0-9a-f]{8,11}\b/g, '<event>')
    .replaceAll(/"instance":"[0-9a-f]{32}"/g, '<trace>')
    .replaceAll(/cursor=[^>]+/g, 'cursor=<cursor>')
    .replaceAll(/ +/g, ' ')
    .trimEnd();

/** Which lines of the run the page shows. Undefined: it shows others. */
export function aligned(shown: readonly string[], ran: readonly string[]): readonly (number | '…')[] | undefined {
  const lines = ran.map(plain);
  const kept: (number | '…')[] = [];
  let at = 0;
  let skips = false;
  for (const line of shown) {
    if (line === '…') {
      skips = true;
      kept.push('…');
      continue;
    }
    const found = skips ? lines.indexOf(plain(line), at) : at;
    if (found < 0 || lines[found] !== plain(line)) return undefined;
    kept.push(found);
    at = found + 1;
    skips = false;
  }
  return skips || at === lines.length ? kept : undefined;
}
