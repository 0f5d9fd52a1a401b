/** The completion script for zsh, with the meaning of each word. */
import { cases, readNames, walk } from './bash.js';
import type { CompletionPlace, FlagWord } from './words.js';

/** Quotes a text in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** Escapes the brackets, colons and backslashes that zsh treats as syntax. */
const plain = (text: string): string => text.replaceAll(/[[\]:\\]/g, '\\$&');

const valueSpec = ({ name, takes }: FlagWord): string => {
  const what = name.slice(2);
  if (takes === 'nothing') return '';
  if (takes === 'path') return `:${what}:_files`;
  return takes === 'text' ? `:${what}: ` : `:${what}:(${takes.join(' ')})`;
};

const specs = (flags: readonly FlagWord[]): string =>
  flags
    .flatMap((flag) => {
      const { name, short, help, takes, repeated } = flag;
      const often = repeated ? '*' : '';
      const rest = `[${plain(help)}]${valueSpec(flag)}`;
      const long = quoted(`${often}${name}${takes === 'nothing' ? '' : '='}${rest}`);
      return short === undefined ? [long] : [long, quoted(`${often}${short}${takes === 'nothing' ? '' : '+'}${rest}`)];
    })
    .join(' ');

export const zshCompletion = (
  places: readonly CompletionPlace[],
  valued: readonly FlagWord[],
): string => `#compdef plinth
# Completion of plinth in zsh. To have it in every shell, in a folder of your $fpath:
#   plinth completion zsh >~/.zfunc/_plinth
${readNames}
_plinth() {
  local at='' word
  local -i arguments=0 skip=0 i
  local -a flags nouns values
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
${walk(places, valued, '    if ((skip)); then skip=0; continue; fi')}
  done
  case $at in
${cases(places, ({ words, flags }) => [[words, `flags=(${specs(flags)})`]])}
  esac
  case "$at $arguments" in
${cases(places, ({ words, next }) =>
  next.length === 0
    ? []
    : [[`${words} 0`, `nouns=(${next.map(({ word, help }) => quoted(`${word}:${plain(help)}`)).join(' ')})`]],
)}
  esac
  case "$at $arguments" in
${cases(places, ({ words, values }) => [...values].map(([at, texts]) => [`${words} ${at}`, `values=(${texts.join(' ')})`]))}
${cases(places, ({ words, names }) => [...names].map(([at, file]) => [`${words} ${at}`, `values=($(_plinth_names ${file}))`]))}
  esac
  _arguments -S : $flags '*: :_plinth_words'
}
_plinth_words() {
  ((\${#nouns})) && _describe -t commands command nouns
  ((\${#values})) && compadd -- $values
}
if [ "$funcstack[1]" = _plinth ]; then _plinth "$@"; else compdef _plinth plinth; fi`;
