/** Prose of Markdown and of help pages: its sentences and their words. Code, tables and headings are left out. */

/** One word, and no punctuation, whatever it held. */
const codeWord = ' code ';

/** Blocks of running text: paragraphs, items of lists and quotes. A block never holds two thoughts of different items. */
export function blocksOf(markdown: string): string[] {
  const text = markdown
    .replaceAll(/^```[\s\S]*?^```/gm, '\n')
    .replaceAll(/<!--[\s\S]*?-->/g, '\n')
    .replaceAll(/^ *\|.*$/gm, '\n')
    .replaceAll(/^#+ .*$/gm, '\n');
  return text
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)/)
    .map((block) => block.replace(/^\s*(?:[-*>]|\d+\.)\s+/, '').trim())
    .filter((block) => block !== '');
}

/** Text as it is read: links by their words, code as one word. */
const plainText = (block: string): string =>
  block
    .replaceAll(/`[^`]*`/g, codeWord)
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('**', '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,;:!?)])/g, '$1')
    .trim();

export const sentencesOf = (block: string): string[] =>
  plainText(block)
    .split(/(?<=[.!?][)"'”]*)\s+/)
    .filter((sentence) => wordsIn(sentence) > 0);

export const wordsIn = (sentence: string): number =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
