/** Functions fit on a screen, and files in a head. Counted by a syntax tree, which TypeScript 7 does not offer. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript-5';

const longestFunction = 70;
const longestFile = 400;

/** Tables, which are read row by row. */
const longFiles: readonly string[] = [
  'shared/bootstrap/options.ts',
  'shared/bootstrap/routes.ts',
  'shared/organization/routes.ts',
];

const sources = ['cli', 'functions', 'shared', 'local']
  .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((file) => join(root, file)))
  .filter((file) => /\.m?ts$/.test(file));

/** What a function is called by the code around it. */
function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText();
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  for (let above = node.parent; !ts.isSourceFile(above) && !ts.isBlock(above); above = above.parent) {
    if (ts.isVariableDeclaration(above) || ts.isPropertyAssignment(above)) return above.name.getText();
    if (ts.isFunctionLike(above)) return nameOf(above);
  }
  return 'unnamed';
}

interface Length {
  readonly of: string;
  readonly lines: number;
}

function functionsIn(file: string, text: string): Length[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS);
  const lineAt = (position: number): number => tree.getLineAndCharacterOfPosition(position).line;
  const found: Length[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const lines = lineAt(node.getEnd()) - lineAt(node.getStart()) + 1;
      found.push({ of: `${file} ${nameOf(node)}`, lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** More than `limit`, and not excepted; and exceptions that are none any more. */
function faultsOf(lengths: readonly Length[], limit: number, excepted: readonly string[]): string[] {
  const long = lengths.filter(({ lines }) => lines > limit);
  return [
    ...long.filter(({ of }) => !excepted.includes(of)).map(({ of, lines }) => `${of}: ${lines} lines`),
    ...excepted.filter((each) => !long.some(({ of }) => of === each)).map((each) => `${each}: no exception any more`),
  ];
}

describe('the code', () => {
  const texts = new Map(sources.map((file) => [file, readFileSync(file, 'utf8')]));

  it(`has no function of more than ${longestFunction} lines`, () => {
    const lengths = [...texts].flatMap(([file, text]) => functionsIn(file, text));
    expect(lengths.length).to.be.greaterThan(1000);
    const help = 'move a part that has a name of its own out of it';
    expect(faultsOf(lengths, longestFunction, []), help).to.deep.equal([]);
  }).timeout(120_000);

  it(`has no file of more than ${longestFile} lines but tables`, () => {
    const lengths = [...texts].map(([of, text]) => ({ of, lines: text.trimEnd().split('\n').length }));
    expect(faultsOf(lengths, longestFile, longFiles), 'ask which second noun has moved in').to.deep.equal([]);
  });
});
