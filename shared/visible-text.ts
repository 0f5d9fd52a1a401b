/**
 * What of a text can be seen, and which spelling it is kept in. Whoever sees a text sees all of it, and nothing of it changes how
 * they see the rest of a table, a page or a terminal.
 */

/**
 * What is not drawn, or steers how other text is drawn: controls, halves of characters, separators of lines, and all that Unicode
 * lets a font ignore. The last four are drawn as nothing although Unicode does not say so: a Braille pattern without dots, a
 * letter of Khitan, a musical note head and the noncharacters.
 */
const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{16fe4}\u{1d159}\p{Noncharacter_Code_Point}]/u;

/** Some emoji are several characters: U+FE0F asks for the picture of a sign, and U+200D joins two pictures. */
const emoji =
  /[0-9#*]\ufe0f\u20e3|\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?(?:\u200d\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)*/u;

const wholeEmojiOrHidden = new RegExp(`${emoji.source}|(${hidden.source})`, 'gu');

/** A picture without it, too, so that the two spellings look the same. */
const needless = /(?<=\p{Emoji_Presentation})\ufe0f/gu;

/** `U+202E`: as people write the number of a character. */
const numbered = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** The first character that cannot be seen, as `U+202E`. Undefined if there is none. */
export function hiddenIn(text: string): string | undefined {
  // Nearly all text is plain, and is not searched for emoji.
  if (!hidden.test(text)) return undefined;
  for (const [, found] of text.matchAll(wholeEmojiOrHidden)) if (found !== undefined) return numbered(found);
  return undefined;
}

/** What cannot be seen is shown as `<U+202E>`. Controls and separators become one blank. */
export const visible = (text: string): string =>
  hidden.test(text)
    ? text
        .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
        .replaceAll(wholeEmojiOrHidden, (whole, found?: string) =>
          found === undefined ? whole : `<${numbered(found)}>`,
        )
    : text;

/** JSON as it was sent, with all its texts visible. Their lines stay. */
export const visibleAnswer = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown) =>
    typeof value === 'string'
      ? value
          .split(/([\n\t])/)
          .map((part, at) => (at % 2 === 1 ? part : visible(part)))
          .join('')
      : value,
  );

/** One spelling for texts that look the same. Names are compared by it. */
export const oneSpelling = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/\p{Zs}/gu, ' ')
    .replaceAll(needless, '')
    .trim();

/** JSON that says the same, and in which everything can be seen. */
export const visibleJson = (value: unknown): string => {
  const text = JSON.stringify(value);
  return hidden.test(text) ? text.replaceAll(new RegExp(hidden, 'gu'), escaped) : text;
};

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
