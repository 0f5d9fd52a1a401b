/** What README and docs lead to is there: files, headings, and each path of the project that stands in backticks. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';

const roots = ['console', 'functions', 'local', 'docs', 'test', 'tools', 'cli', 'shared', 'terraform', '.ci'];

const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file))
    .sort(),
];
const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, '');
const texts = new Map(pages.map((page) => [page, withoutCode(readFileSync(page, 'utf8'))]));

/** As GitHub makes them of headings; the second of a name ends in -1. */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id));
  for (const [, heading = ''] of text.matchAll(/^#+ (.*)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

function brokenLinks(page: string, text: string): string[] {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.flatMap((link) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(target)) return [`${page}: ${link}`];
    if (anchor === undefined) return [];
    const there = anchorsOf(texts.get(target) ?? withoutCode(readFileSync(target, 'utf8')));
    return there.has(anchor) ? [] : [`${page}: ${link} (no such heading)`];
  });
}

const files = roots.flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => `${root}/${file}`)
    .filter((file) => !file.includes('/node_modules/')),
);

const escaped = (text: string): string => text.replaceAll(/[.+^$()|[\]\\]/g, '\\$&');

/** Globs; `<step>` and `…` stand for any name. */
function patternOf(path: string): RegExp {
  const source = escaped(path)
    .replaceAll(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.split(',').join('|')})`)
    .replaceAll(/<[^>]*>/g, '[^/]+')
    .replaceAll('…', '.+')
    .replaceAll('**/', '(?:.+/)?')
    .replaceAll(/(?<!\.)\*/g, '[^/]*');
  return new RegExp(`^${source}$`);
}

function isThere(path: string): boolean {
  const bare = path.replace(/:\d+$/, '').replace(/\/$/, '');
  if (roots.includes(bare) || existsSync(bare)) return true;
  if (!/[*{<…]/.test(bare)) return false;
  const pattern = patternOf(bare);
  return files.some((file) => pattern.test(file));
}

const pathPattern = new RegExp(`^(?:${roots.map(escaped).join('|')})/[^\\s\`]*$`);
const missingPaths = (page: string, text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)]
    .map(([, code = '']) => code)
    .filter((code) => pathPattern.test(code) && !isThere(code))
    .map((code) => `${page}: ${code}`);

describe('README and docs', () => {
  it('link to files and headings that there are', () => {
    expect([...texts].flatMap(([page, text]) => brokenLinks(page, text))).to.deep.equal([]);
  });

  it('are all in the one index, which is in README', () => {
    const linked = [...(texts.get('README.md') ?? '').matchAll(/\]\(([^)\s#]+)/g)].map(([, link = '']) =>
      normalize(link),
    );
    expect(pages.filter((page) => page !== 'README.md' && !linked.includes(page))).to.deep.equal([]);
  });

  it('name in backticks only paths that there are', () => {
    expect([...texts].flatMap(([page, text]) => missingPaths(page, text))).to.deep.equal([]);
  });

  it('are looked through by patterns too', () => {
    expect(isThere('test/**/*.tools.test.ts')).to.equal(true);
    expect(isThere('functions/steps/{cloud,hosts}/<step>.ts')).to.equal(true);
    expect(isThere('functions/steps/{cloud,hosts}/<step>.txt')).to.equal(false);
    expect(isThere('functions/no-such-file.ts')).to.equal(false);
    expect(isThere('docs/')).to.equal(true);
  });
});
