/** What skopeo ends with, and whether `--retry-times` tries it again. Thrown by its stand-in's parts. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly isPassing = false,
  ) {
    super(message);
  }
}

/** What was being done goes before what went wrong. */
export const during = <T>(what: string, doing: Promise<T>): Promise<T> =>
  doing.catch((error: Error) => {
    throw new Failure(`${what}: ${error.message}`, error instanceof Failure && error.isPassing);
  });
