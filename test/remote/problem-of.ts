/** What a piece of work fails with, which must be a Problem. */
import { AssertionError } from 'chai';
import { Problem } from '../../shared/problems.js';

export const problemOf = async (work: Promise<unknown>): Promise<Problem> => {
  const error = await work.then(
    () => new AssertionError('It went well'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof Problem) return error;
  throw error;
};
