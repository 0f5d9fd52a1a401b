/** A problem as the API tells it, with what to do next in the command line's own words. */
import { Problem } from '../../shared/problems.js';

export const advised = ({ code, detail, errors, members }: Problem, advice: string): Problem =>
  new Problem(code, detail, {
    advice,
    ...(errors !== undefined && { errors }),
    ...(members !== undefined && { members }),
  });
