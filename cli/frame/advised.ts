/** A problem from the API, with advice in the command line's own words. */
import { Problem } from '../../shared/problems.js';

export const advised = ({ code, detail, errors, members }: Problem, advice: string): Problem =>
  new Problem(code, detail, {
    advice,
    ...(errors !== undefined && { errors }),
    ...(members !== undefined && { members }),
  });
