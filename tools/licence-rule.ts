/** Which licences what we hand on may have: those that ask for a notice and no more. What is unknown is refused, too. */

const allowed: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-3.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
]);

/** The part of a package.json that tells it; `licenses` is how it was told before 2014. */
export interface LicenceTold {
  readonly license?: unknown;
  readonly licenses?: readonly { readonly type?: string }[];
}

/** As an SPDX expression; `undefined`: nothing is told, or in a form that nobody knows. */
export function licenceOf({ license, licenses }: LicenceTold): string | undefined {
  if (typeof license === 'string') return license;
  const types = licenses?.map(({ type }) => type);
  return types === undefined || types.includes(undefined) ? undefined : types.join(' OR ');
}

/** Of `A OR B` one is enough, of `A AND B` both must do. Parentheses around all of it are the only ones that are understood. */
export function isAllowed(expression: string): boolean {
  const bare = expression.trim().replace(/^\(([^()]*)\)$/, '$1');
  return bare.split(' OR ').some((choice) => choice.split(' AND ').every((each) => allowed.has(each.trim())));
}
