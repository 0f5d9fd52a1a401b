/** What stands on the machines of a bootstrap that says that it has succeeded. */
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import type { Stage } from './bootstraps-stage.js';

const marker = '/var/lib/platform/installed';

/** Looks at each bootstrap once a generation. Called after each commit. */
export function createMachinesJudge(
  { machines, installs }: Stage,
  wrong: (what: string) => void,
): (records: ReadonlyMap<string, BootstrapRecord>) => void {
  const seen = new Set<string>();
  return (records) => {
    if (!installs) return;
    for (const [id, { state, generation, projectId, owner }] of records) {
      const key = `${id} ${generation}`;
      if (state !== 'succeeded' || owner === 'pool' || seen.has(key)) continue;
      seen.add(key);
      const own = machines.of(projectId);
      if (!own.some(({ files }) => files.has(marker))) wrong(`${id} has succeeded, and no platform is installed`);
      for (const { name, files } of own) {
        const left = [...files.keys()].filter((path) => path.startsWith('/run/') && path.endsWith('.curl'));
        if (left.length > 0) wrong(`${id} has succeeded, and ${name} still has ${left.join(', ')}`);
      }
    }
  };
}
