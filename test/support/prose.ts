/** Prose of Markdown and of help pages, measured: words a sentence, long sentences, semicolons. Code, tables and headings are left out. */

export interface ProseFigures {
  readonly sentences: number;
  readonly words: number;
  /** Words a sentence, on average. */
  readonly mean: number;
  /** Share of sentences above `longSentence` words, in percent. */
  readonly longPercent: number;
  /** In 1,000 words. */
  readonly semicolons: number;
}

export const longSentence = 25;

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
export const plainText = (block: string): string =>
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

export function figuresOf(sentences: readonly string[]): ProseFigures {
  const counts = sentences.map(wordsIn);
  const words = counts.reduce((sum, count) => sum + count, 0);
  const long = counts.filter((count) => count > longSentence).length;
  const semicolons = sentences.join(' ').split(';').length - 1;
  return {
    sentences: sentences.length,
    words,
    mean: sentences.length === 0 ? 0 : words / sentences.length,
    longPercent: sentences.length === 0 ? 0 : (100 * long) / sentences.length,
    semicolons: words === 0 ? 0 : (1000 * semicolons) / words,
  };
}

/** The longest first, with their lengths. */
export const worstOf = (sentences: readonly string[], count: number): string[] =>
  [...sentences]
    .sort((a, b) => wordsIn(b) - wordsIn(a))
    .slice(0, count)
    .map((sentence) => `${wordsIn(sentence)} words: ${sentence}`);
