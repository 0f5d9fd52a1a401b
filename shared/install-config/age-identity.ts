/** age identities: the line that holds one, and the recipient that it opens for. No message quotes an identity. */
import { Problem } from '../problems.js';

/** The file may contain comments, as age-keygen writes them. */
export const identityIn = (text: string | undefined): string | undefined =>
  /^AGE-SECRET-KEY-\S+/m.exec(text ?? '')?.[0];

/** Loaded on first use, because loading takes 95 ms. `whose` names the file in the message. */
export async function recipientOf(identity: string, whose = 'What should open the secrets file'): Promise<string> {
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
