/**
 * The names that commands have seen last, for completion: projects, machines, steps, organizations and teams. A shell reads
 * them as files, so that completing neither runs plinth nor asks the service.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfThere, secretMode, writeWhole } from '../files/files.js';
import type { ArgumentName } from '../frame/arguments.js';
import type { Client } from '../service/client.js';
import type { OrganizationClient } from '../service/organization-client.js';
import type { Settings } from '../settings.js';

/** Which names an argument takes, and the file that holds them. */
export const namesOf: Partial<Record<ArgumentName, string>> = {
  project: 'projects',
  host: 'hosts',
  step: 'steps',
  organization: 'organizations',
  teamId: 'teams',
};
/** As a shell finds them. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is a shell that reads it
export const namesFolder = '${XDG_CACHE_HOME:-$HOME/.cache}/plinth/names';

export function withSeenProjects(client: Client, settings: Settings): Client {
  return {
    ...client,
    async list(...asked) {
      const found = await client.list(...asked);
      keep(
        settings,
        'projects',
        found.flatMap(({ name, projectId, state }) => (state === 'removed' ? [] : [isPlain(name) ? name : projectId])),
      );
      return found;
    },
    async get(id) {
      const view = await client.get(id);
      keep(
        settings,
        'hosts',
        view.result.vms.map(({ name }) => name),
      );
      keep(
        settings,
        'steps',
        view.instances.map(({ step }) => step),
      );
      return view;
    },
  };
}

export function withSeenOrganizations(client: OrganizationClient, settings: Settings): OrganizationClient {
  return {
    ...client,
    async organizations(deleted) {
      const found = await client.organizations(deleted);
      const isAlone = (wanted: string) => found.filter(({ name }) => name === wanted).length === 1;
      const words = found.map(({ id, name }) => (isPlain(name) && isAlone(name) ? name : id));
      if (deleted !== true) keep(settings, 'organizations', words);
      return found;
    },
    async teams(deleted) {
      const found = await client.teams(deleted);
      const words = found.map(({ teamId }) => String(teamId));
      if (deleted !== true) keep(settings, 'teams', words);
      return found;
    },
  };
}

/** Others have a meaning to some shell, and are left out. */
const isPlain = (name: string): boolean => /^\w[\w.-]*$/.test(name);

/** Without a place for them, nothing is completed, and no command fails. */
function keep({ env, home }: Settings, file: string, names: readonly string[]): void {
  const cache = env['XDG_CACHE_HOME'] || join(home, '.cache');
  const place = join(cache, 'plinth', 'names', file);
  const lines = [...new Set(names)].filter(isPlain).map((name) => `${name}\n`);
  const content = lines.join('');
  try {
    if (readIfThere(place) === content) return;
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    writeWhole(place, content, secretMode);
  } catch {
    // The names of before stay.
  }
}
