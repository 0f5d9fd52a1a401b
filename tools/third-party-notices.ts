/**
 * THIRD_PARTY_NOTICES of an artefact: each package that is really in it, by what esbuild says, with its licence and the text
 * that it asks to be handed on. It fails where a licence is not allowed, and where there is no text.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Metafile } from 'esbuild';
import { isAllowed, type LicenceTold, licenceOf } from './licence-rule.js';

export const noticesFile = 'THIRD_PARTY_NOTICES';

interface Held {
  readonly title: string;
  readonly licence: string;
  readonly source: string;
  /** Empty: the package brings none along. */
  readonly text: string;
}

interface Manifest extends LicenceTold {
  readonly name: string;
  readonly version: string;
  readonly homepage?: string;
  readonly repository?: string | { readonly url?: string };
}

/** Folders of the packages of which something is in the output. A plugin may have put its name before a path. */
function foldersIn({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? [input] : [])),
  );
  return inputs.flatMap((input) => /^(?:\w+:(?=\/))?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []);
}

function readPackage(folder: string): Held {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { name, version, repository, homepage } = manifest;
  const title = `${name} ${version}`;
  const licence = licenceOf(manifest);
  if (licence === undefined || !isAllowed(licence)) {
    throw new Error(
      `${title} has the licence ${licence ?? 'that nobody knows'}, and what holds it is handed on: see tools/licence-rule.ts.`,
    );
  }
  const url = (typeof repository === 'string' ? repository : repository?.url) ?? homepage ?? '';
  const source = url
    .replace(/^(git\+)?(https|ssh|git):\/\/(git@)?|\.git$/g, '')
    .replace(/^[\w-]+\/[\w.-]+$/, 'github.com/$&');
  return { title, licence, source, text: textIn(folder) };
}

/** Licences and notices, or what the page about the package says in their place. */
function textIn(folder: string): string {
  const files = readdirSync(folder).sort();
  const texts = files
    .filter((file) => /^(licen[cs]e|copying|notice|copyright)([.-]|$)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (texts.length > 0) return texts.join('\n\n');
  const page = files.find((file) => /^readme(\.|$)/i.test(file));
  const [, told = ''] = /\n#* *licen[cs]e\n[-=]*\n([\s\S]*)/i.exec(
    page === undefined ? '' : readFileSync(join(folder, page), 'utf8'),
  ) ?? [''];
  return /copyright/i.test(told) && /permission is hereby granted/i.test(told) ? told.trim() : '';
}

/** Google publishes some clients without the text, which is the same for all: another one's will do. */
function withTexts(held: readonly Held[]): Held[] {
  const apache = held.find(
    ({ licence, text }) => licence === 'Apache-2.0' && text.includes('Version 2.0, January 2004'),
  );
  return held.map((each) => {
    const text = each.text === '' && each.licence === 'Apache-2.0' ? (apache?.text ?? '') : each.text;
    if (text === '') throw new Error(`${each.title} has no text of its licence, ${each.licence}, to hand on.`);
    return { ...each, text };
  });
}

const rule = '='.repeat(80);

/** `besides`: what is in the artefact and not of a package, as a title and its text. */
export function thirdPartyNotices(
  metafile: Metafile,
  besides: readonly { readonly title: string; readonly text: string }[] = [],
): string {
  // A plugin's path is a whole one, esbuild's begins here: the same folder.
  const folders = new Set(foldersIn(metafile).map((folder) => relative('.', folder)));
  const byTitle = new Map([...folders].map(readPackage).map((each) => [each.title, each] as const));
  const held = withTexts([...byTitle.values()].sort((a, b) => (a.title < b.title ? -1 : 1)));
  /** Many have the same text, but for its line breaks: it is told once. */
  const groups = new Map<string, Held[]>();
  for (const each of held) {
    const words = each.text.replace(/\s+/g, ' ');
    groups.set(words, [...(groups.get(words) ?? []), each]);
  }
  const sections = [...groups.values()].map((group) => ({
    head: group.map(({ title, licence, source }) => [title, licence, source].filter(Boolean).join(' | ')).join('\n'),
    text: group[0]?.text ?? '',
  }));
  return `${[
    'What others wrote, and this holds. plinth itself is under none of these licences.',
    ...[...besides.map(({ title, text }) => ({ head: title, text })), ...sections].map(
      ({ head, text }) => `${rule}\n${head}\n\n${text.trim()}`,
    ),
  ].join('\n\n')}\n`;
}
