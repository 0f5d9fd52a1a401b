/**
 * What each resource of Terraform's provider google takes: read from the sources of @cdktf/provider-google, which were
 * generated from the provider's own schema (MPL-2.0; nothing of it is kept). Called by workspace.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** As in `tfplugin5.proto`, with types as text. */
export interface Attribute {
  readonly name: string;
  /** A type of cty in JSON: `"string"`, `["list","string"]`. */
  readonly type: string;
  readonly required: boolean;
  readonly optional: boolean;
  readonly computed: boolean;
}
export interface NestedBlock {
  readonly typeName: string;
  readonly block: Block;
  readonly nesting: 'SINGLE' | 'LIST' | 'SET';
  readonly minItems: number;
  /** 0: any number. */
  readonly maxItems: number;
}
export interface Block {
  readonly attributes: readonly Attribute[];
  readonly blockTypes: readonly NestedBlock[];
}

/** The provider's version that the package was generated from. */
export const providerVersion = '6.50.0';

const packageFolder = dirname(createRequire(import.meta.url).resolve('@cdktf/provider-google/package.json'));

/** The TypeScript, comments and all, is in the source map that closes the compiled file. */
function sourceOf(folder: string): string | undefined {
  const file = join(packageFolder, 'lib', folder, 'index.js');
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const map = JSON.parse(
    Buffer.from(text.slice(text.lastIndexOf('base64,') + 7).trim(), 'base64').toString('utf8'),
  ) as {
    sourcesContent: readonly string[];
  };
  const [source = ''] = map.sourcesContent;
  if (!source.includes(`/providers/hashicorp/google/${providerVersion}/`)) {
    throw new Error(`@cdktf/provider-google was not generated from provider ${providerVersion}: ${folder}`);
  }
  return source;
}

/** `google_pubsub_topic` → `pubsub-topic`; `undefined`: the provider has no such thing. */
export function resourceBlock(type: string, kind: 'resource' | 'data'): Block | undefined {
  const name = type.replace(/^google_/, '').replaceAll('_', '-');
  const source = sourceOf(kind === 'data' ? `data-google-${name}` : name);
  if (source === undefined) return undefined;
  const [, root] = /export class (\w+) extends cdktf\.Terraform(?:Resource|DataSource) /.exec(source) ?? [];
  if (root === undefined) throw new Error(`${type}: the package's source has no resource in it`);
  return readBlock(source, root, '  public? *protected synthesizeHclAttributes|protected synthesizeHclAttributes');
}

export function providerBlock(): Block {
  const source = sourceOf('provider');
  if (source === undefined) throw new Error('@cdktf/provider-google has no provider');
  return readBlock(source, 'GoogleProvider', 'protected synthesizeHclAttributes');
}

const member =
  /^ {2}\/\/ (\w+) - computed: (true|false), optional: (true|false), required: (true|false)\n {2}(.*)\n(?: {4}(.*)\n)?/gm;

const between = (text: string, start: RegExp, end: string): string => {
  const from = text.search(start);
  if (from < 0) throw new Error(`The package's source has no ${String(start)}`);
  return text.slice(from, text.indexOf(end, from));
};

/** How a settable field is written in HCL. */
interface Form {
  readonly isBlock: boolean;
  readonly type: string;
  readonly storage: string;
}

function formsIn(text: string): ReadonlyMap<string, Form> {
  const forms = /^ +(\w+): \{\n +value: .*\n +isBlock: (true|false),\n +type: "(\w+)",\n +storageClassType: "(\w+)",/gm;
  return new Map(
    [...text.matchAll(forms)].map(([, name = '', isBlock, type = '', storage = '']) => [
      name,
      { isBlock: isBlock === 'true', type, storage },
    ]),
  );
}

function readBlock(source: string, className: string, formsAt: string): Block {
  const body = between(source, new RegExp(`^export class ${className} `, 'm'), '\n}\n');
  const inClass = body.search(new RegExp(formsAt));
  const forms = formsIn(
    inClass < 0 ? between(source, new RegExp(`^export function ${formsAt}\\(`, 'm'), '\n}\n') : body.slice(inClass),
  );
  const attributes: Attribute[] = [];
  const blockTypes: NestedBlock[] = [];
  for (const [, name = '', computed, optional, required, declaration = '', getter = ''] of body.matchAll(member)) {
    const [, nested] = / = new (\w+)\(this, /.exec(declaration) ?? [];
    const form = forms.get(name);
    if (nested !== undefined && form?.isBlock) {
      const struct = nested.replace(/(?:OutputReference|List)$/, '');
      const nesting = form.type === 'struct' ? 'SINGLE' : form.type === 'set' ? 'SET' : 'LIST';
      blockTypes.push({
        typeName: name,
        block: readBlock(
          source,
          `${struct}OutputReference`,
          `${struct[0]?.toLowerCase()}${struct.slice(1)}ToHclTerraform`,
        ),
        nesting,
        minItems: required === 'true' && nesting !== 'SINGLE' ? 1 : 0,
        maxItems: nested.endsWith('OutputReference') && nesting !== 'SINGLE' ? 1 : 0,
      });
      continue;
    }
    attributes.push({
      name,
      type: JSON.stringify(form === undefined ? computedType(declaration, getter) : settableType(form, name)),
      required: required === 'true',
      optional: optional === 'true',
      computed: computed === 'true',
    });
  }
  return { attributes, blockTypes };
}

const words: Readonly<Record<string, string>> = { string: 'string', number: 'number', boolean: 'bool' };

function settableType({ type, storage }: Form, name: string): unknown {
  const simple = words[storage];
  if (type === 'simple' && simple !== undefined) return simple;
  const element = words[storage.replace(/(?:List|Map|Set)$/, '')];
  if (element !== undefined && (type === 'list' || type === 'set' || type === 'map')) return [type, element];
  // Objects in attributes: rare, and none that we use; terraform then takes anything.
  if (storage !== '') return 'dynamic';
  throw new Error(`${name}: no type for ${type} of ${storage}`);
}

/** Of what can only be read. */
function computedType(declaration: string, getter: string): unknown {
  if (/cdktf\.StringMap\(/.test(declaration)) return ['map', 'string'];
  if (/cdktf\.BooleanMap\(/.test(declaration)) return ['map', 'bool'];
  if (/tolist\(this\.getListAttribute/.test(getter)) return ['set', 'string'];
  if (/getListAttribute/.test(getter)) return ['list', 'string'];
  if (/getNumberListAttribute/.test(getter)) return ['list', 'number'];
  if (/getStringAttribute/.test(getter)) return 'string';
  if (/getNumberAttribute/.test(getter)) return 'number';
  if (/getBooleanAttribute/.test(getter)) return 'bool';
  // Lists of objects that the provider fills.
  return 'dynamic';
}
