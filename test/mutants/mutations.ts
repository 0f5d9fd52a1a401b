/** The small changes that can be made to a source: a comparison the other way round, a call left out, a number that is one more. */
import { parseSync } from 'oxc-parser';

export interface Mutation {
  /** Where the changed expression or statement stands in the source, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly put: string;
  readonly isStatement: boolean;
}

/** ESTree, as oxc-parser gives it. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [property: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

const otherOperator: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '-': '+',
  '*': '/',
  '/': '*',
};

/** What runs when a module loads runs once in a process, so no test can be told from another by it. */
const isFunction = ({ type }: Node): boolean =>
  /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);

/** Names, paths and types: changed, they make another program rather than a faulty one. */
const skipped =
  /^(?:TS(?:Type|Interface|Enum|Module|Literal).*|ImportDeclaration|ImportExpression|Export(?:All|Default)Declaration|TaggedTemplateExpression)$/;

export function mutationsOf(file: string, text: string): Mutation[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const found: Mutation[] = [];
  const source = (node: Node): string => text.slice(node.start, node.end);
  const add = ({ start, end }: Node, put: string, isStatement = false): void =>
    void found.push({ start, end, put, isStatement });

  function ofNode(node: Node): void {
    const { left, operator, right, test, expression, argument, value } = node;
    if ((node.type === 'BinaryExpression' || node.type === 'LogicalExpression') && isNode(left) && isNode(right)) {
      const other = otherOperator[String(operator)];
      if (other !== undefined) add(node, `(${source(left)}) ${other} (${source(right)})`);
    }
    if ((node.type === 'IfStatement' || node.type === 'ConditionalExpression') && isNode(test)) {
      add(test, 'true');
      add(test, 'false');
    }
    if (node.type === 'UnaryExpression' && operator === '!' && isNode(argument)) add(node, source(argument));
    if (node.type === 'ExpressionStatement' && isNode(expression) && isCall(expression)) add(node, 'void 0;', true);
    if (node.type === 'Literal' && typeof value === 'boolean') add(node, String(!value));
    if (node.type === 'Literal' && typeof value === 'number') add(node, String(value + 1));
    // Prose is left as it is: few tests should read it word for word.
    if (node.type === 'Literal' && typeof value === 'string' && /^\S+$/.test(value)) add(node, "''");
  }

  function visit(node: Node, inFunction: boolean): void {
    if (skipped.test(node.type)) return;
    if (inFunction) ofNode(node);
    const within = inFunction || isFunction(node);
    for (const [property, value] of Object.entries(node)) {
      if (isName(node, property)) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, within);
    }
  }
  visit(program as unknown as Node, false);
  return found;
}

const isCall = (node: Node): boolean =>
  node.type === 'CallExpression' ||
  (node.type === 'AwaitExpression' && isNode(node['argument']) && isCall(node['argument']));

/** A key or a member's name stands where no expression can. */
const isName = (node: Node, property: string): boolean =>
  (property === 'key' || property === 'property') && node['computed'] !== true;
