/** Bounds how much is done at once where a run has many things to look at. */

/** The results in the order of `items`. A batch begins when the one before it is done, and the first error ends it. */
export async function mapInBatches<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += atOnce) {
    results.push(...(await Promise.all(items.slice(i, i + atOnce).map((item) => work(item)))));
  }
  return results;
}
