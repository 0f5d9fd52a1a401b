/** E-mail addresses, in one form at every door: in API requests, in tokens and in settings. */
import * as z from 'zod';

/** Only A–Z. Unicode also folds others, such as the Kelvin sign to k, but those are different names. */
export const asciiLowerCased = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Trimmed, ASCII, compared in lower case. At most 254 characters (RFC 5321's limit of a path). */
export const EmailText = z
  .string()
  .trim()
  .overwrite(asciiLowerCased)
  .max(254, 'must have at most 254 characters')
  .regex(z.regexes.html5Email, 'must be an e-mail address');

export const Email = EmailText.meta({
  id: 'Email',
  description: 'An e-mail address; compared trimmed and lower-cased',
  examples: ['bob@example.com'],
});
