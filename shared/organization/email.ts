/** E-mail addresses as people are known by, at every door: in what an API is sent, in tokens and in settings. */
import * as z from 'zod';

/** A–Z alone: what Unicode folds besides, such as the Kelvin sign into k, is another name. */
export const asciiLowerCased = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Trimmed, ASCII, compared lower-cased; at most 254 characters (RFC 5321's limit of a path). */
export const Email = z
  .string()
  .trim()
  .overwrite(asciiLowerCased)
  .max(254, 'must have at most 254 characters')
  .regex(z.regexes.html5Email, 'must be an e-mail address')
  .meta({
    id: 'Email',
    description: 'An e-mail address; compared trimmed and lower-cased',
    examples: ['bob@example.com'],
  });
