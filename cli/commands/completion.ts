/**
 * `plinth completion bash|zsh|fish`: prints a script that completes commands, flags, values and files. While you type, the
 * script never runs plinth.
 */
import { bashCompletion } from '../completion/bash.js';
import { fishCompletion } from '../completion/fish.js';
import { placesOf, shells, valueFlags } from '../completion/words.js';
import { zshCompletion } from '../completion/zsh.js';
import { type Command, type CommandDefinition, defineCommand } from '../frame/command.js';
import { refusal } from '../frame/required.js';

/** `all` is a function because the list of commands contains this one. */
export const completion = (all: () => Promise<readonly Command[]>): CommandDefinition =>
  defineCommand({
    description: [
      'Prints a script for bash, zsh or fish, made from the same tables as the help: commands, flags, values where there are a few, files where a path is wanted. It holds for the version that printed it.',
      'Of projects, machines, steps, organizations and teams it offers those that your commands have seen last, such as plinth beta bootstrap-cloud list. They stand in ~/.cache/plinth/names. Completing itself calls nothing.',
      'bash: into ~/.local/share/bash-completion/completions/plinth. zsh: into the file _plinth of a folder of your $fpath. fish: into ~/.config/fish/completions/plinth.fish. For this shell alone, load it at once.',
    ],
    examples: [
      'source <(plinth completion bash)',
      'plinth completion zsh >~/.zfunc/_plinth',
      'plinth completion fish >~/.config/fish/completions/plinth.fish',
    ],

    async run(call) {
      const shell = shells.find((each) => each === call.word('shell')?.text);
      const faults = [...call.faults];
      if (shell === undefined && call.word('shell') !== undefined) {
        faults.push({ path: '<shell>', message: `must be one of ${shells.join(', ')}` });
      }
      if (faults.length > 0 || shell === undefined) throw refusal(faults);
      const write = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }[shell];
      const script = write(placesOf(await all()), valueFlags());
      return { data: { shell, script }, show: () => script, asIs: true };
    },
  });
