/** The sources that faults are planted in. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Those of the product, and of what builds it. Not the tests. */
const sourceFolders = ['cli', 'functions', 'shared', 'local', 'tools'];

/** By path. */
export type Sources = ReadonlyMap<string, string>;

export const sourcesIn = (folder: string): Sources =>
  new Map(
    sourceFolders
      .map((each) => join(folder, each))
      .filter((each) => existsSync(each))
      .flatMap((each) => readdirSync(each, { recursive: true, encoding: 'utf8' }).map((file) => join(each, file)))
      .filter((file) => /\.m?ts$/.test(file))
      .map((file) => [file, readFileSync(file, 'utf8')]),
  );

/** The file of each place where the text stands. */
export const placesOf = (sources: Sources, find: string): string[] =>
  [...sources].flatMap(([file, text]) =>
    text
      .split(find)
      .slice(1)
      .map(() => file),
  );
