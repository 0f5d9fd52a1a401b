/** Reads the flags out of the help of a command: what people are told of each. For test/spec. */

/** A flag as the help shows it. */
export interface ShownFlag {
  readonly short: string | undefined;
  readonly type: string;
  /** As text, items of a list by `, `; undefined: the help names none. */
  readonly default: string | undefined;
  readonly required: boolean;
}

const row = /^ {2}(?:-(\w), | {4})--([a-z\d-]+)(?: <(\w+)>)? {2,}(\S.*)$/;
const more = /^ {10,}(\S.*)$/;

/** By their names without dashes. */
export function readHelp(help: string): ReadonlyMap<string, ShownFlag> {
  const found = new Map<string, { readonly short: string | undefined; readonly type: string; text: string }>();
  let last: { text: string } | undefined;
  for (const line of help.split('\n')) {
    const [, short, name, type = 'bool', text = ''] = row.exec(line) ?? [];
    const [, rest] = more.exec(line) ?? [];
    if (name !== undefined) {
      if (found.has(name)) throw new Error(`--${name} is shown twice`);
      const flag = { short, type, text };
      found.set(name, flag);
      last = flag;
    } else if (rest !== undefined && last !== undefined) {
      last.text += ` ${rest}`;
    } else last = undefined;
  }
  return new Map(
    [...found].map(([name, { short, type, text }]) => [
      name,
      { short, type, default: /\(default: ([^)]*)\)/.exec(text)?.[1], required: text.includes('(required)') },
    ]),
  );
}
