/** The packages that the stack is settled on are what package.json names and the code imports, none of them an internal part of another. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const atRunTime = [
  '@google-cloud/compute',
  '@google-cloud/firestore',
  '@google-cloud/functions-framework',
  '@google-cloud/pubsub',
  '@google-cloud/scheduler',
  'cac',
  'ssh2',
  'zod',
];
const inTests = ['chai', 'mocha'];

const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<
  Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
>;

const importedBy = (folders: readonly string[]): Set<string> =>
  new Set(
    folders
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((file) => file.endsWith('.ts'))
          .map((file) => readFileSync(join(folder, file), 'utf8')),
      )
      .flatMap((text) => [...text.matchAll(/(?:from |import\()'((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name = '']) => name)),
  );

describe('the stack', () => {
  it('names the packages that it is settled on', () => {
    expect(Object.keys(dependencies)).to.include.members(atRunTime);
    expect(Object.keys(devDependencies)).to.include.members(inTests);
  });

  it('imports each of them, and of Google no client beside them', () => {
    const imported = importedBy(['cli', 'functions', 'shared']);
    expect([...imported]).to.include.members(atRunTime);
    const google = [...imported].filter((name) => name.startsWith('@google-cloud/'));
    expect(google, 'a generated client is an internal part of the package that brings it').to.have.members(
      atRunTime.filter((name) => name.startsWith('@google-cloud/')),
    );
  });
});
