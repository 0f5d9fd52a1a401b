/** The reference page of the functions' settings, from the rows that functions/config.ts merges. */
import { settings } from '../../functions/config.js';

export function settingsReference(): string {
  const rows = Object.entries(settings).map(([name, setting]) => {
    const fallback = 'default' in setting ? `\`${setting.default}\`` : 'required' in setting ? 'required' : '';
    return `| \`${name}\` | ${fallback === '``' ? '' : fallback} | ${setting.help.replaceAll('|', '\\|')} |`;
  });
  return [
    '# Settings of the functions',
    '',
    'Environment variables, generated from the `settings.ts` of each room in `functions/`. Lists are separated by commas.',
    '',
    '| variable | default | meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
