/**
 * Loaded before everything else in each process of a test run: turns on the one mutant that PLINTH_MUTANT names, or, where
 * PLINTH_MUTANTS_SEEN names a folder, notes which mutants each test file reaches.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { PLINTH_MUTANT: mutant, PLINTH_MUTANTS_SEEN: folder } = process.env;
const seen = new Set<string>();

function note(number: number): boolean {
  // The hooks set it anew for each file, and programs that a test starts inherit it.
  const file = process.env['PLINTH_MUTANTS_FILE'];
  const key = `${file} ${number}`;
  if (folder !== undefined && file !== undefined && !seen.has(key)) {
    seen.add(key);
    const place = join(folder, String(number));
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, encodeURIComponent(file)), '');
  }
  return false;
}

Object.assign(globalThis, { plinthMutant: folder === undefined ? (each: number) => String(each) === mutant : note });
