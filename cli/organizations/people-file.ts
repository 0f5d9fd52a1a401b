/** Reads e-mail addresses from an argument, or from a file with one a line. */
import { Email } from '../../shared/organization/email.js';
import type { Fault } from '../../shared/problems.js';
import { homePlaceOf, reason } from '../files/files.js';
import { readGivenText } from '../files/given-text.js';
import type { CommandContext } from '../frame/command.js';

interface People {
  readonly emails: readonly string[];
  /** Each with its line. */
  readonly faults: readonly Fault[];
}

const nobody = (path: string, message: string): People => ({ emails: [], faults: [{ path, message }] });

/** Takes `<email>` or `--file`, and not both. Empty lines are left out, and comments, which begin with `#` at the beginning of a line or after a blank: an address may hold one. */
export function readPeople(call: Pick<CommandContext, 'word' | 'settings'>): People {
  const [email, file] = [call.word('email'), call.word('file')];
  if (email !== undefined && file !== undefined) return nobody('--file', 'stands for <email>; give one of them');
  if (email !== undefined) return peopleIn([[email.path, email.text]]);
  if (file === undefined) return nobody('<email>', 'is missing; or give --file');
  try {
    const lines = readGivenText(homePlaceOf(file.text, call.settings)).split('\n');
    const named = lines.map((line, i) => [`${file.text}:${i + 1}`, line.replace(/(?:^|\s)#.*/, '').trim()] as const);
    const found = named.filter(([, text]) => text !== '');
    return found.length === 0 ? nobody('--file', 'names nobody') : peopleIn(found, { quoting: false });
  } catch (error) {
    return nobody('--file', `${file.text} cannot be read: ${reason(error)}`);
  }
}

/** What is no e-mail address in a file may be anything, as when another file was named. */
function peopleIn(
  named: readonly (readonly [path: string, text: string])[],
  { quoting = true }: { readonly quoting?: boolean } = {},
): People {
  const emails = new Map<string, string>();
  const faults: Fault[] = [];
  for (const [path, text] of named) {
    const { success, data, error } = Email.safeParse(text);
    if (!success)
      faults.push({ path, message: `${error.issues[0]?.message}${quoting ? `, not ${JSON.stringify(text)}` : ''}` });
    else if (emails.has(data)) faults.push({ path, message: `names ${data} again, after ${emails.get(data)}` });
    else emails.set(data, path);
  }
  return { emails: [...emails.keys()], faults };
}
