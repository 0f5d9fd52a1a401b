/** The files that the caller already has of a bootstrap, as writes of documents and their names in the record. */
import type { BootstrapRecord } from '../../engine/record/documents.js';
import { fileWrite } from '../../engine/record/files.js';
import type { Write } from '../../store/store.js';

import type { BeginFacts } from './begin-facts.js';
export function baseFiles(
  id: string,
  base: BeginFacts['base'],
  now: Date,
): { names: BootstrapRecord['base']; writes: Write[] } {
  const names: BootstrapRecord['base'] = {};
  const writes: Write[] = [];
  const add = (name: string, content: string | undefined): string | undefined => {
    if (content === undefined) return undefined;
    writes.push(fileWrite(id, name, content, now));
    return name;
  };
  for (const [datacenter, files] of Object.entries(base ?? {})) {
    const config = add(`base-config-${datacenter}`, files?.config);
    const secrets = add(`base-secrets-${datacenter}`, files?.secrets);
    if (config === undefined && secrets === undefined) continue;
    names[datacenter] = { ...(config === undefined ? {} : { config }), ...(secrets === undefined ? {} : { secrets }) };
  }
  return { names, writes };
}
