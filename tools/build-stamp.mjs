/**
 * What a build was made of and what it made, kept in a file beside it: it is whole where both are still the same. Sources are
 * known by their content, as a switched branch changes only their times; what was made is known by time and size.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** All files beneath a folder, by their paths from here. */
export function filesIn(folder) {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  }
  return entries
    .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

/** The content of files as one text; a file that is not there counts, too. `moment` also changes when one was written again. */
export function fingerprint(files) {
  const content = createHash('sha256');
  const moment = createHash('sha256');
  for (const file of files) {
    let bytes = '';
    try {
      moment.update(`${file} ${statSync(file).ctimeMs}\n`);
      bytes = readFileSync(file);
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
      content.update('missing ');
    }
    content.update(`${file} ${bytes.length}\n`).update(bytes);
  }
  return { content: content.digest('hex'), moment: moment.digest('hex') };
}

/** Each file's time and size; of one that is not there nothing. */
export function signatures(files) {
  return Object.fromEntries(
    files.flatMap((file) => {
      const found = statSync(file, { throwIfNoEntry: false });
      return found === undefined ? [] : [[file, `${found.mtimeMs} ${found.size}`]];
    }),
  );
}

/** @typedef {{ key: string, inputs?: string[], made: Record<string, string> }} Stamp */

/** @returns {Stamp | undefined} */
export function readStamp(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // Not there, or written by a build of another kind.
    return undefined;
  }
}

export function writeStamp(path, stamp) {
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(stamp));
  renameSync(fresh, path);
}

/** Whether all that was made is there as it was made. */
export function isWhole(stamp) {
  const found = signatures(Object.keys(stamp.made));
  return Object.entries(stamp.made).every(([file, signature]) => found[file] === signature);
}
