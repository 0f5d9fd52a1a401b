/** A failure of skopeo, and whether `--retry-times` retries it. The parts of its stand-in throw it. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly isPassing = false,
  ) {
    super(message);
  }
}

/** Puts what was being done before what went wrong. */
export const during = <T>(what: string, doing: Promise<T>): Promise<T> =>
  doing.catch((error: Error) => {
    throw new Failure(`${what}: ${error.message}`, error instanceof Failure && error.isPassing);
  });
