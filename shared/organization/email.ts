/** E-mail addresses as people are known by: trimmed, lower-cased, whatever a browser's e-mail field takes. */
import * as z from 'zod';

/** Compared lower-cased; at most 254 characters (RFC 5321's limit of a path). */
export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254, 'must have at most 254 characters')
  .regex(z.regexes.html5Email, 'must be an e-mail address');
