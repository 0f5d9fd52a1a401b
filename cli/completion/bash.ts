/** The completion script for bash 3.2 and newer. It works without the package bash-completion. */
import { namesFolder } from './seen-names.js';
import type { CompletionPlace, FlagWord } from './words.js';

/** A pattern for `case`. Names of flags and words of commands contain no pattern characters. */
const alternatives = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join('|');
const namesOf = (flags: readonly FlagWord[]): string[] =>
  flags.flatMap(({ name, short }) => (short === undefined ? [name] : [name, short]));

/** The names that commands have seen, for bash and zsh. */
export const readNames = `_plinth_names() { command cat "${namesFolder}/$1" 2>/dev/null; }`;

/** Follows the words into the commands, for bash and zsh. Sets `at` and `arguments`. */
export const walk = (places: readonly CompletionPlace[], valued: readonly FlagWord[], step: string): string => `${step}
    case $word in
      --) return ;;
      ${alternatives(namesOf(valued))}) skip=1 ;;
      -*) ;;
      *)
        case "\${at:+$at }$word" in
          ${alternatives(places.flatMap(({ words }) => (words === '' ? [] : [words])))})
            if [ "$arguments" -eq 0 ]; then at="\${at:+$at }$word"; else arguments=$((arguments + 1)); fi ;;
          *) arguments=$((arguments + 1)) ;;
        esac ;;
    esac`;

/** One line for each place that has something to complete. */
export const cases = (
  places: readonly CompletionPlace[],
  line: (place: CompletionPlace) => readonly (readonly [string, string])[],
): string => places.flatMap((place) => line(place).map(([at, what]) => `      '${at}') ${what} ;;`)).join('\n');

export function bashCompletion(places: readonly CompletionPlace[], valued: readonly FlagWord[]): string {
  const paths = namesOf(valued.filter(({ takes }) => takes === 'path'));
  const chosen = valued.flatMap(({ name, short, takes }) =>
    typeof takes === 'string' ? [] : [{ names: short === undefined ? [name] : [name, short], values: takes }],
  );
  return `# Completion of plinth in bash. To have it in every shell:
#   plinth completion bash >~/.local/share/bash-completion/completions/plinth
${readNames}
_plinth() {
  local at='' flag='' word words='' arguments=0 skip=0 i
  local cur=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} lead=''
  COMPREPLY=()
  # bash parts words at "=".
  if [ "$cur" = = ]; then
    flag=$before cur=''
  elif [ "$before" = = ]; then
    flag=\${COMP_WORDS[COMP_CWORD - 2]}
  else
    case $cur in
      --*=*) flag=\${cur%%=*} lead="\${cur%%=*}=" cur=\${cur#*=} ;;
      *) flag=$before ;;
    esac
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [ "$word" = = ]; then skip=1; continue; fi
${walk(places, valued, '    if [ "$skip" -eq 1 ]; then skip=0; continue; fi')}
  done
  case $flag in
${chosen.map(({ names, values }) => `    ${alternatives(names)}) words='${values.join(' ')}' ;;`).join('\n')}
    ${alternatives(paths)})
      compopt -o filenames 2>/dev/null
      local IFS=$'\\n'
      COMPREPLY=($(compgen -P "$lead" -f -- "$cur"))
      return ;;
    ${alternatives(namesOf(valued.filter(({ takes }) => takes === 'text')))}) return ;;
    *)
      [ -n "$lead" ] && return
      case $cur in
        -*)
          case $at in
${cases(places, ({ words, flags }) => [[words, `words='${namesOf(flags).join(' ')}'`]])}
          esac ;;
        *)
          case "$at $arguments" in
${cases(places, nextWords)}
          esac ;;
      esac ;;
  esac
  COMPREPLY=($(compgen -P "$lead" -W "$words" -- "$cur"))
}
complete -F _plinth plinth`;
}

/** At most one of the kinds stands at a position, and commands may stand beside them at the first one. */
const nextWords = ({ words, next, values, names }: CompletionPlace): (readonly [string, string])[] => {
  const fixed = (at: number) => [...(at === 0 ? next.map(({ word }) => word) : []), ...(values.get(at) ?? [])];
  const seen = (at: number) => (names.has(at) ? ` $(_plinth_names ${names.get(at)})` : '');
  const positions = new Set([0, ...values.keys(), ...names.keys()]);
  return [...positions].flatMap((at) => {
    const all = `${fixed(at).join(' ')}${seen(at)}`;
    return all === '' ? [] : [[`${words} ${at}`, `words="${all}"`] as const];
  });
};
