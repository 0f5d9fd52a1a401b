/** The paging of lists, the same in both APIs. Without `limit` a list comes whole. */
import * as z from 'zod';

export const pageQuery = {
  limit: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1 to 200')
    .transform(Number)
    .pipe(z.int().min(1).max(200))
    .optional()
    .meta({ description: 'How many a page holds; without it the list comes whole', examples: [50] }),
  cursor: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .meta({
      description:
        'Where the page begins: out of the `Link` header of the page before. It belongs to this list and this caller alone',
      examples: ['WyIyMDI2LTExLTIzIl0.nJ2k1rQpLwVf0aXyTzB8cA'],
    }),
};

export const pageHeaders = {
  Link: 'With `limit`: the next page, as `<path>; rel="next"`; absent on the last one',
} as const;
