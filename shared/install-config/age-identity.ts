/** age identities: files of them, and the recipient that one opens for. No message quotes an identity. */
import { Problem } from '../problems.js';

const defaultName = 'What should open the secrets file';

/** Loaded on first use, because loading takes 95 ms. `whose` names the file in the message. */
export async function recipientOf(identity: string, whose = defaultName): Promise<string> {
  const { identityToRecipient } = await import('age-encryption');
  try {
    return await identityToRecipient(identity);
  } catch {
    // The library's own message quotes the identity, and so does its stack.
    throw new Problem('bad-input', `${whose} holds no whole age identity: it was changed or cut short.`, {
      advice: 'Put back a copy of it, or move it aside: where plinth still has its record, it is written again.',
    });
  }
}

export interface AgeIdentity {
  readonly identity: string;
  readonly recipient: string;
}

/**
 * All identities in the text of an identity file, read as `age` does (filippo.io/age, ParseIdentities): one a line, which may
 * end in CRLF. Empty lines and lines that begin with # are ignored, and so are identities of plugins, which plinth cannot run.
 */
export async function identitiesIn(text: string, whose?: string): Promise<AgeIdentity[]> {
  const found: AgeIdentity[] = [];
  const damaged: number[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const identity = line.replace(/\r$/, '');
    if (identity === '' || /^(?:#|AGE-PLUGIN-)/.test(identity)) continue;
    try {
      found.push({ identity, recipient: await recipientOf(identity) });
    } catch {
      damaged.push(index + 1);
    }
  }
  if (damaged.length > 0) throw damagedIn(damaged, whose);
  return found;
}

/** The same for a file that must hold one. */
export async function someIdentitiesIn(text: string, whose = defaultName): Promise<AgeIdentity[]> {
  const found = await identitiesIn(text, whose);
  if (found.length === 0) throw new Problem('bad-input', `${whose} holds no age identity.`);
  return found;
}

/** A file of another kind has many. */
const mostNamed = 5;

function damagedIn(lines: readonly number[], whose = defaultName): Problem {
  const named = lines.slice(0, mostNamed);
  const more = lines.length > mostNamed ? [`${lines.length - mostNamed} more`] : [];
  const list = [...named, ...more].map(String);
  const said =
    list.length === 1
      ? `line ${list[0]} is not a whole age identity`
      : `lines ${list.slice(0, -1).join(', ')} and ${list.at(-1)} are not whole age identities`;
  return new Problem('bad-input', `${whose}: ${said}.`, {
    advice:
      'A line holds one identity, without blanks, or a comment that begins with #. Correct the file, put back a copy of it, or move it aside: where plinth still has its record, it is written again.',
  });
}
