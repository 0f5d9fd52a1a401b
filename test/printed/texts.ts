/** Every text that the sources and pages hold, for tests of what is printed: a value that is filled in is one word. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-5';

export interface PrintedText {
  /** File and line. */
  readonly at: string;
  readonly text: string;
}

/** Stands for a value that is only known when the text is printed. */
export const filledIn = 'zz9';

const filesBelow = (folder: string, form: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => form.test(name))
    .map((name) => join(folder, name))
    .sort();

/** Texts of sources: literals, templates and the text between tags. Comments are left out. */
export const sourceTexts = (...folders: readonly string[]): PrintedText[] =>
  folders.flatMap((folder) => filesBelow(folder, /\.tsx?$/)).flatMap(textsOf);

/** Files that name no program have nothing of interest, and parsing takes long. */
function textsOf(file: string): PrintedText[] {
  const code = readFileSync(file, 'utf8');
  if (!/plinth |gcloud |kubectl |sops /.test(code)) return [];
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
  const constants = new Map<string, string>();
  const texts: PrintedText[] = [];
  const textOf = (node: ts.Node): string | undefined => {
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) return node.text;
    if (!ts.isTemplateExpression(node)) return undefined;
    const filled = (part: ts.Expression): string => {
      if (ts.isIdentifier(part)) return constants.get(part.text) ?? filledIn;
      if (!ts.isConditionalExpression(part)) return filledIn;
      return textOf(part.whenTrue) ?? textOf(part.whenFalse) ?? filledIn;
    };
    return node.templateSpans.reduce(
      (text, { expression, literal }) => `${text}${filled(expression)}${literal.text}`,
      node.head.text,
    );
  };
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
      const text = textOf(node.initializer);
      if (text !== undefined) constants.set(node.name.text, text);
    }
    const text = textOf(node);
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (text !== undefined) texts.push({ at: `${file}:${line}`, text });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

/** The code of pages: each line of a block, and each span. What follows a prompt, and continued lines are one. */
export const pageCode = (...folders: readonly string[]): PrintedText[] =>
  folders
    .flatMap((folder) => filesBelow(folder, /\.md$/))
    .flatMap((file) => {
      const page = readFileSync(file, 'utf8');
      const blocks = [...page.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
        block.replaceAll(/\\\n\s*/g, ' ').split('\n'),
      );
      const spans = [...page.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(
        ([, span = '']) => span,
      );
      return [...blocks, ...spans].map((text) => ({ at: file, text: text.trim() }));
    });
