/** What is told of a file of YAML that readers of 1.1 and 1.2 read differently: places and kinds, never a value. */
import type { Fault } from '../../shared/problems.js';
import { faultText, type YamlFault } from '../../shared/yaml-text.js';

const mostShown = 10;

/** One for the whole file, or none. */
export function doubtOf(flag: string, path: string, differences: readonly YamlFault[]): Fault[] {
  if (differences.length === 0) return [];
  const shown = differences.slice(0, mostShown).map(faultText);
  const more = differences.length > mostShown ? `; and ${differences.length - mostShown} more` : '';
  return [
    {
      path: flag,
      message: `${path} holds what not all readers of YAML read alike; put quotes around it to mean text: ${shown.join('; ')}${more}`,
    },
  ];
}
