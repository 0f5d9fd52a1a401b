/** Shows what a configuration changes: old and new values. Of the client secret it shows only that it changes. */

import { printable, type Style } from '../frame/output.js';
import { table } from '../frame/table.js';
import { type ConfigName, type ConfigValues, configNames } from './config-file.js';

interface Change {
  readonly name: ConfigName;
  readonly from: string | null;
  readonly to: string | null;
}

const shown = (name: ConfigName, value: string | undefined): string | null =>
  value === undefined ? null : name === 'oauth.clientSecret' ? '<secret>' : value;

export const changesBetween = (standing: ConfigValues, wanted: ConfigValues): Change[] =>
  configNames
    .filter((name) => standing[name] !== wanted[name])
    .map((name) => ({ name, from: shown(name, standing[name]), to: shown(name, wanted[name]) }));

export const changeLines = (changes: readonly Change[], style: Style): string[] =>
  table(
    changes.map(({ name, from, to }) => [
      name,
      ...(from === null ? [] : [{ text: printable(from), paint: style.dim }, '→']),
      to === null ? { text: 'taken away', paint: style.yellow } : { text: printable(to), paint: style.bold },
    ]),
  );
