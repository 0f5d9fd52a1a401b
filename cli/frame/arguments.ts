/**
 * The arguments of commands, which follow the command's own words, with the help for each. A name means the same everywhere.
 */
export const argumentHelp = {
  project: 'Name or id of the cloud project.',
  step: 'Step as status --json names it, such as install, or one of its instances, such as install:dc1.',
  host: 'Name of the machine, such as k0s-1. (default: jumpbox)',
  address: 'Address of a machine, or its name in DNS.',
  port: 'Its port.',
  organization: 'Id of the organization, or its name if you belong to just one of that name.',
  teamId: 'Number of the team, as plinth team list shows it.',
  email: 'E-mail address of the member.',
  role: 'admin or member.',
  name: 'What people call it.',
  shell: 'bash, zsh or fish.',
} as const;
export type ArgumentName = keyof typeof argumentHelp;

/** The form in help and faults. */
export const bracketed = (name: string): string => `<${name}>`;
