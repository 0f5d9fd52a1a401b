/**
 * Reads JSON of strangers. One pass over the text bounds what the parser would make of it, and finds keys that an object has
 * twice: the parser keeps the last one, and a reader of the text may have seen the first.
 */

/** The longest list that a route takes has 500 entries of two fields. */
const mostValues = 20_000;
const mostLevels = 32;
/** Enough for a person. Each may be as long as the text. */
const mostRepeated = 100;

export interface JsonRead {
  readonly value: unknown;
  /** The path of each key that an object has more than once. */
  readonly repeated: readonly (readonly PropertyKey[])[];
}

/** A list counts its items. An object has its keys, each with whether it was reported. */
interface Level {
  readonly keys: Map<string, boolean> | undefined;
  at: PropertyKey;
}

/** The position behind the string whose first quote is at `from`. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text[before - 1] === '\\') before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Two spellings of a key are one key. What is no string is left to the parser. */
function keyOf(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
}

function createRepeats() {
  const repeated: PropertyKey[][] = [];
  return {
    repeated,
    /** Reads a key of the innermost level. */
    read(levels: readonly Level[], key: string): void {
      const level = levels.at(-1);
      if (level?.keys === undefined) return;
      level.at = key;
      const isNew = level.keys.get(key) === false && repeated.length < mostRepeated;
      if (isNew) repeated.push(levels.map(({ at }) => at));
      level.keys.set(key, isNew || level.keys.get(key) === true);
    },
  };
}

/** Throws a SyntaxError for what is no JSON, and a RangeError for more than any route takes, with words for people. */
export function readJson(text: string): JsonRead {
  const { repeated, read } = createRepeats();
  const levels: Level[] = [];
  let values = 1;
  /** Behind `{` or `[`. */
  let isOpened = false;
  let awaitsKey = false;
  const count = (): void => {
    values += 1;
    if (values > mostValues) throw new RangeError(`has more than ${mostValues} values`);
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    if (char <= ' ') continue;
    if (isOpened && char !== '}' && char !== ']') count();
    isOpened = char === '{' || char === '[';
    if (isOpened) {
      levels.push({ keys: char === '{' ? new Map() : undefined, at: 0 });
      if (levels.length > mostLevels) throw new RangeError(`has more than ${mostLevels} levels`);
      awaitsKey = char === '{';
    } else if (char === '"') {
      const end = endOfString(text, at);
      if (awaitsKey) read(levels, keyOf(text.slice(at, end)));
      awaitsKey = false;
      at = end - 1;
    } else if (char === '}' || char === ']') {
      levels.pop();
      awaitsKey = false;
    } else if (char === ',') {
      count();
      const level = levels.at(-1);
      awaitsKey = level?.keys !== undefined;
      if (level !== undefined && typeof level.at === 'number') level.at += 1;
    }
  }
  return { value: JSON.parse(text), repeated };
}
