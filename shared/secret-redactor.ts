/**
 * The one barrier for secrets. Whoever reads a secret registers it, and everything that is printed, logged, stored or answered
 * as a problem passes `redact`.
 */
import { flagName, optionNames, redacted, shortestHidden } from './bootstrap/options.js';
import { type SecretForm, withoutForms } from './secret-forms.js';

export interface SecretRedactor {
  /** `shownAs` takes its place, by default `<secret>`. An empty value is ignored. */
  register(value: string | undefined, shownAs?: string): void;
  /**
   * Replaces each secret in all texts of plain data, keys included, and keeps the data's form. A short secret occurs in
   * ordinary words by chance, so it is replaced only where it is the whole text.
   */
  redact<T>(data: T): T;
  /** The same, but these values are what the output is for. */
  redactExcept<T>(data: T, wanted: readonly string[]): T;
  /** How many of these bytes may be shown before more is known: what follows may be the beginning of a secret. */
  shownLength(bytes: Buffer): number;
}

const flagNames: ReadonlySet<string> = new Set(optionNames.map(flagName));

/** The name of a flag is never secret, even if it contains the value of a secret. */
function isInFlagName(text: string, offset: number, length: number): boolean {
  const before = /[a-z0-9-]*$/.exec(text.slice(Math.max(0, offset - 64), offset))?.[0] ?? '';
  const after = /^[a-z0-9-]*/.exec(text.slice(offset + length, offset + length + 64))?.[0] ?? '';
  return flagNames.has(`${before}${text.slice(offset, offset + length)}${after}`);
}

/** A line with nothing but a key says what is there, and an armor's first line and a comment tell no secret. */
const isSecretLine = (line: string): boolean => !/^(?:-----|#|[\w.-]+:$)/.test(line);

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const control = /[\u0000-\u001f\u007f-\u009f]+/g;

/** Half of a pair of surrogates cannot stand in a URL. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** As it is, each of its lines, and all of these as JSON, a URL, a form or base64 would write them. */
function formsOf(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return [value, value.trim(), ...(lines.length > 1 ? lines.filter(isSecretLine) : [])]
    .filter(({ length }) => length >= shortestHidden)
    .flatMap((text) => {
      const escaped = JSON.stringify(text).slice(1, -1);
      const bytes = Buffer.from(text);
      const inUrl = encodeURIComponent(wellFormed(text));
      return [
        text,
        escaped,
        JSON.stringify(escaped).slice(1, -1),
        inUrl,
        inUrl.replaceAll('%20', '+'),
        // As it is made safe for a terminal.
        text.replaceAll(control, ' '),
        bytes.toString('base64').replace(/=+$/, ''),
        bytes.toString('base64url'),
      ];
    });
}

/** Texts by their first characters, so that a search costs the same however many there are. */
function createIndex() {
  const byStart = new Map<string, string[]>();
  let longest = 0;
  return {
    add(text: string): void {
      const start = text.slice(0, shortestHidden);
      const same = byStart.get(start) ?? [];
      if (same.includes(text)) return;
      byStart.set(
        start,
        [...same, text].sort((a, b) => b.length - a.length),
      );
      longest = Math.max(longest, text.length);
    },
    longest: () => longest,
    isEmpty: () => byStart.size === 0,
    /** The longest one that begins there. */
    at: (text: string, from: number): string | undefined =>
      byStart.get(text.slice(from, from + shortestHidden))?.find((each) => text.startsWith(each, from)),
    /** Whether one begins there that goes on behind the end, or at least behind `cut`. */
    goesOn(text: string, from: number, cut: number): boolean {
      const start = text.slice(from, from + shortestHidden);
      const candidates =
        start.length === shortestHidden
          ? (byStart.get(start) ?? [])
          : [...byStart].flatMap(([key, texts]) => (key.startsWith(start) || start.startsWith(key) ? texts : []));
      return candidates.some(
        (each) => from + each.length > cut && text.startsWith(each.slice(0, text.length - from), from),
      );
    },
  };
}

interface Span {
  readonly from: number;
  to: number;
  readonly found: string;
}

/** Where secrets stand in a text. Those that overlap are one. */
function spansIn(text: string, index: ReturnType<typeof createIndex>): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at <= text.length - shortestHidden; at++) {
    if (text[at] === redacted[0] && text.startsWith(redacted, at)) {
      at += redacted.length - 1;
      continue;
    }
    const found = index.at(text, at);
    if (found === undefined || isInFlagName(text, at, found.length)) continue;
    const last = spans.at(-1);
    if (last !== undefined && at < last.to) last.to = Math.max(last.to, at + found.length);
    else spans.push({ from: at, to: at + found.length, found });
  }
  return spans;
}

/** The same data, each text of it changed. `whole` changes a value that is a text. */
function mapTexts(data: unknown, whole: (text: string) => string, ofKey: (text: string) => string): unknown {
  const map = (value: unknown): unknown => {
    if (typeof value === 'string') return whole(value);
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
    if (Array.isArray(value)) return value.map(map);
    if ('toJSON' in value && typeof value.toJSON === 'function') return map(value.toJSON());
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [ofKey(key), map(each)]));
  };
  return map(data);
}

/** Changes all of a text but `kept`. */
function around(text: string, [first, ...others]: readonly string[], change: (part: string) => string): string {
  if (first === undefined) return change(text);
  return text
    .split(first)
    .map((part) => around(part, others, change))
    .join(first);
}

/** `forms`: what looks like a secret is one, even if nobody has registered it. */
export function createSecretRedactor({ forms = [] }: { readonly forms?: readonly SecretForm[] } = {}): SecretRedactor {
  const known = new Set<string>();
  const short = new Map<string, string>();
  const shownAs = new Map<string, string>();
  const texts = createIndex();
  const bytesOf = createIndex();

  function inText(text: string): string {
    let shown = '';
    let at = 0;
    for (const { from, to, found } of texts.isEmpty() ? [] : spansIn(text, texts)) {
      shown += `${text.slice(at, from)}${shownAs.get(found) ?? redacted}`;
      at = to;
    }
    return withoutForms(shown + text.slice(at), forms);
  }
  const inData = (data: unknown, ofText: (text: string) => string): unknown =>
    mapTexts(data, (text) => short.get(text) ?? ofText(text), ofText);

  return {
    register(value, as) {
      if (value === undefined || value === '' || known.has(value)) return;
      known.add(value);
      if (value.length < shortestHidden) short.set(value, as ?? redacted);
      for (const form of new Set(formsOf(value))) {
        texts.add(form);
        bytesOf.add(Buffer.from(form).toString('latin1'));
        if (as !== undefined) shownAs.set(form, as);
      }
    },
    redact: <T>(data: T): T => inData(data, inText) as T,
    redactExcept<T>(data: T, wanted: readonly string[]): T {
      const longestFirst = wanted.filter((each) => each !== '').sort((a, b) => b.length - a.length);
      const kept = longestFirst.flatMap((each) => [each, escapedOf(each)]);
      return mapTexts(
        data,
        (text) => (kept.includes(text) ? text : (short.get(text) ?? around(text, kept, inText))),
        inText,
      ) as T;
    },
    shownLength(bytes) {
      // One character a byte, so that positions are the same.
      const text = bytes.toString('latin1');
      let cut = wholeCharacters(bytes);
      for (let before = -1; before !== cut; ) {
        before = cut;
        for (let from = Math.max(0, cut - bytesOf.longest()); from < cut; from++) {
          if (bytesOf.goesOn(text, from, cut)) cut = from;
        }
      }
      return cut;
    },
  };
}

const escapedOf = (text: string): string => JSON.stringify(text).slice(1, -1);

function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
