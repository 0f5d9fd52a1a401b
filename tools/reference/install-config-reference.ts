/** The reference page of the install config and the secrets file, from their schemas. */
import * as z from 'zod';
import { InstallConfig } from '../../shared/install-config/config.js';
import { SecretsFile } from '../../shared/install-config/secrets.js';

interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

interface Row {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

export function installConfigReference(): string {
  return [
    '# The install config and the secrets file',
    '',
    'Generated from the schemas in `shared/install-config`. `D` stands for the base domain, `P` for the project, `R` for the',
    'region, `N` for the number of a datacenter. Both files are strict: a key that is not on this page is refused. What you',
    'add by hand goes under an `override` key.',
    '',
    '## config.yaml',
    '',
    'One a datacenter; the second one is `config-dc2.yaml`.',
    '',
    'plinth edits your file. It replaces the values that change and no other byte, so comments, order of keys, quotes and line ends',
    'stay, and every `override` reaches the jumpbox byte for byte. If you edit the file while a command goes on, and something new',
    'comes from that command, yours is kept as `config.edited.yaml`.',
    '',
    '- A value in `override` that readers of YAML 1.1 and 1.2 read differently is warned of by its line: `0644`, `yes`, `1_000`,',
    '  `12:30:45`, `1e3`, a date, a merge key or an unusual tag. Put quotes around it to mean text. A number that JSON rounds is named, too.',
    '- An alias whose anchor is on the other side of the border of an `override` is refused by its line. So is a tag that needs a',
    '  `%TAG` directive.',
    '- The same warnings hold for the files of `--pc-apps-values`. One that is not YAML is refused by line and column, before anything',
    '  is created.',
    '- A package reads the config as JSON, so comments and the form of numbers end there.',
    '',
    ...table(InstallConfig),
    '',
    '## prod.vault.yaml',
    '',
    "One a datacenter; the second one is `prod-dc2.vault.yaml`. On disk it is in the SOPS form, encrypted with age for the bootstrap's",
    'own recipient, so that `sops` opens and edits it. What you do to it with sops stays when plinth writes it again: comments, more',
    'recipients, a rule for what is encrypted (`unencrypted_suffix`, `encrypted_regex` and their like) and `mac_only_encrypted`. Your',
    'copy and the one on the jumpbox have each their own. A secret that you take out with sops goes from the other copies with the next run.',
    'Refused, with what to do: a file that is not encrypted, was cut short or changed by other means, is encrypted to key groups or no',
    'more to the bootstrap, says by comments what is encrypted, or has a rule that leaves a password or a content in clear.',
    '',
    'This is what it holds once decrypted:',
    '',
    ...table(SecretsFile),
    '',
  ].join('\n');
}

function table(schema: z.ZodType): string[] {
  const rows = rowsOf(z.toJSONSchema(schema, { io: 'input' }) as JsonSchema, '', true);
  return [
    '| path | type | required | what it is |',
    '| --- | --- | --- | --- |',
    ...rows.map(
      ({ path, type, required, description }) =>
        `| \`${path}\` | ${cell(type)} | ${required ? 'yes' : 'no'} | ${cell(description)} |`,
    ),
  ];
}

const cell = (text: string) => text.replaceAll('|', '\\|');

/** Rows of what lies beneath; the variants of a union are shown one after the other, each said of which it is. */
function rowsOf(schema: JsonSchema, path: string, required: boolean): Row[] {
  const self: Row[] =
    path === '' ? [] : [{ path, type: typeOf(schema), required, description: schema.description ?? '' }];
  const variants = (schema.oneOf ?? schema.anyOf ?? []).filter(({ properties }) => properties !== undefined);
  if (variants.length > 0) return [...self, ...variantRows(variants, path)];
  const item = schema.items;
  return [...self, ...children(schema, path), ...(item?.properties === undefined ? [] : children(item, `${path}[]`))];
}

/** Rows of all variants; those that are alike in each of them stand once, the others say when they hold. */
function variantRows(variants: readonly JsonSchema[], path: string): Row[] {
  const all = variants.map((variant) => {
    const tag = Object.entries(variant.properties ?? {}).find(([, property]) => property.const !== undefined);
    return { when: tag === undefined ? '' : ` (${tag[0]}: ${String(tag[1].const)})`, rows: children(variant, path) };
  });
  const same = (a: Row, b: Row) => JSON.stringify(a) === JSON.stringify(b);
  return all.flatMap(({ when, rows }, index) =>
    rows.flatMap((row) => {
      if (!all.every((variant) => variant.rows.some((other) => same(row, other)))) {
        return [{ ...row, description: `${row.description}${when}` }];
      }
      return index === 0 ? [row] : [];
    }),
  );
}

const children = (schema: JsonSchema, path: string): Row[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    rowsOf(property, path === '' ? name : `${path}.${name}`, schema.required?.includes(name) ?? false),
  );

/** JSON Schema's and zod's words for formats, in plainer ones. */
const formats: Readonly<Record<string, string>> = {
  starts_with: 'PEM',
  lowercase: 'string in lower case',
  uri: 'URL',
  ipv4: 'IPv4 address',
  ipv6: 'IPv6 address',
  cidrv4: 'CIDR',
};

function typeOf(schema: JsonSchema): string {
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(' | ');
  if (schema.items !== undefined)
    return schema.items.properties === undefined ? `list of ${typeOf(schema.items)}` : 'list';
  if (schema.format !== undefined) return formats[schema.format] ?? schema.format;
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined) {
    return [...new Set(variants.map(typeOf))].join(' | ');
  }
  if (schema.type === 'object') {
    const values = schema.additionalProperties;
    if (typeof values !== 'object') return 'map';
    return Object.keys(values).length === 0 ? 'map of anything' : `map to ${typeOf(values)}`;
  }
  return schema.type ?? 'anything';
}
