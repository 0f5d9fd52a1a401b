/** The completion script for fish, with the meaning of each word. */
import type { CompletionPlace, FlagWord } from './words.js';

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;

/** `count`: how many arguments come before. fish itself knows whether to complete a flag or a word. */
const condition = (words: string, count?: number): string =>
  `-n ${quoted(['__plinth_at', count ?? 'any', ...(words === '' ? [] : [words])].join(' '))}`;

function flagLine(words: string, { name, short, help, takes }: FlagWord): string {
  const value =
    takes === 'nothing'
      ? ''
      : takes === 'path'
        ? ' -r -F'
        : takes === 'text'
          ? ' -x'
          : ` -x -a ${quoted(takes.join(' '))}`;
  const letter = short === undefined ? '' : ` -s ${short.slice(1)}`;
  return `complete -c plinth ${condition(words)} -l ${name.slice(2)}${letter}${value} -d ${quoted(help)}`;
}

export const fishCompletion = (
  places: readonly CompletionPlace[],
  valued: readonly FlagWord[],
): string => `# Completion of plinth in fish. To have it in every shell:
#   plinth completion fish >~/.config/fish/completions/plinth.fish
set -g __plinth_places ${places.flatMap(({ words }) => (words === '' ? [] : [quoted(words)])).join(' ')}
set -g __plinth_valued ${valued.flatMap(({ name, short }) => (short === undefined ? [name] : [name, short])).join(' ')}
# Whether the words so far lead to this place: __plinth_at COUNT|any WORDS…
function __plinth_at
    set -l at
    set -l count 0
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip -eq 1
            set skip 0
        else if contains -- $word $__plinth_valued
            set skip 1
        else if string match -q -- '-*' $word
            test $word = -- && return 1
        else if test $count -eq 0 && contains -- "$at$word" $__plinth_places
            set at "$at$word "
        else
            set count (math $count + 1)
        end
    end
    test "$argv[1]" = any -o "$argv[1]" = $count && test (string trim -- "$at") = "$argv[2..]"
end
# The names that commands have seen last.
function __plinth_names
    set -l cache ~/.cache
    set -q XDG_CACHE_HOME && test -n "$XDG_CACHE_HOME" && set cache $XDG_CACHE_HOME
    command cat $cache/plinth/names/$argv[1] 2>/dev/null
end
complete -c plinth -e
complete -c plinth -f
${places
  .flatMap(({ words, next, flags, values, names }) => [
    ...next.map(({ word, help }) => `complete -c plinth ${condition(words, 0)} -a ${word} -d ${quoted(help)}`),
    ...[...values].map(([at, texts]) => `complete -c plinth ${condition(words, at)} -a ${quoted(texts.join(' '))}`),
    ...[...names].map(([at, file]) => `complete -c plinth ${condition(words, at)} -a '(__plinth_names ${file})'`),
    ...flags.map((flag) => flagLine(words, flag)),
  ])
  .join('\n')}`;
