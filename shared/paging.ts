/** How lists are asked for in pages, the same in both APIs: without `limit` a list comes whole. Read by the route tables. */
import * as z from 'zod';

export const pageQuery = {
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number from 1 to 200')
    .transform(Number)
    .pipe(z.int().min(1).max(200))
    .optional(),
  cursor: z.string().min(1).max(1024).optional(),
};

export const pageHeaders = {
  Link: 'With `limit`: the next page, as `<path>; rel="next"`; absent on the last one',
} as const;
