/** What of an existing install config stays when plinth writes it again: its text, and what a person added. */
import { meaningOf } from '../portable-yaml.js';
import { Problem } from '../problems.js';
import { readYamlDocument } from '../yaml-text.js';
import { InstallConfig, writeInstallConfig } from './config.js';
import { editYaml } from './edit.js';
import { isTree, type Tree } from './edit-places.js';
import { overrideTexts } from './overrides.js';

/**
 * The text of a config that means what is wanted. What stands is edited: what need not change keeps its bytes, and so does
 * every `override` whose place still exists. `Problem` bad-input if a text of this form cannot be edited.
 */
export function editInstallConfig(standing: string | undefined, wanted: InstallConfig): string {
  if (standing === undefined) return writeInstallConfig(wanted);
  const edited = editYaml(standing, wanted);
  if (edited !== undefined) {
    const [before, after] = [overrideTexts(standing), overrideTexts(edited)];
    if ([...after].every(([path, text]) => before.get(path) === text)) return edited;
  }
  throw new Problem(
    'bad-input',
    'The install config has a form that cannot be edited without a change to `override`.',
    {
      advice:
        'Write the parts beside `override` as plinth does: a key and its value a line, without anchors, aliases and tags.',
    },
  );
}

/** The wanted config plus what a person added by hand to the existing one: every `override` whose place still exists. */
export function keepOverrides(wanted: InstallConfig, standing: InstallConfig | undefined): InstallConfig {
  const keep = (to: Tree, from: Tree): Tree => {
    const merged: Tree = { ...to };
    for (const [key, value] of Object.entries(from)) {
      if (key === 'override' && isTree(value)) merged[key] = value;
      else if (isTree(value) && isTree(to[key])) merged[key] = keep(to[key], value);
    }
    return merged;
  };
  return standing === undefined ? wanted : InstallConfig.parse(keep(wanted, standing));
}

/** The same for texts that differ in comments, form and order alone. An install begins again only where it differs. */
export const configMeaning = (text: string): string => meaningOf(readYamlDocument(text).document.contents);
