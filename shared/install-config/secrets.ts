/**
 * The secrets file, prod.vault.yaml: its schema, the names of its secrets, and how it is read and written in the SOPS form.
 */
import * as z from 'zod';
import { type Fault, Problem } from '../problems.js';
import { decryptSops, encryptSops, rewriteSops, type SopsTree } from './sops.js';
import { encryptionRule, lastModified, parseSops, refuse, ruleName, sopsForm } from './sops-block.js';
import type { SopsMeans } from './sops-cipher.js';

export const Secret = z
  .strictObject({
    name: z.string().min(1).meta({ description: 'Unique in the file' }),
    file: z
      .strictObject({
        name: z.string().min(1).meta({ description: 'Name of the file that the installer makes of it' }),
        content: z.string().meta({ description: 'Bytes of the file, as text' }),
      })
      .optional()
      .meta({ description: 'For keys and certificates' }),
    fields: z
      .strictObject({
        username: z.string().optional().meta({ description: 'Only where a secret is a pair of user and password' }),
        password: z.string().optional().meta({ description: 'The value, also of secrets that are no password' }),
      })
      .optional()
      .meta({ description: 'For single values' }),
  })
  .refine((secret) => secret.file !== undefined || secret.fields !== undefined, 'has neither a file nor fields')
  .meta({ description: 'One secret' });
export type Secret = z.infer<typeof Secret>;

export const SecretsFile = z
  .strictObject({
    version: z.literal(1).meta({ description: 'Version of this form' }),
    secrets: z
      .array(Secret)
      .refine((secrets) => new Set(secrets.map(({ name }) => name)).size === secrets.length, 'a name stands twice')
      .meta({ description: 'All secrets of the datacenter; ones that a person added are kept' }),
  })
  .meta({ description: 'prod.vault.yaml, decrypted' });
export type SecretsFile = z.infer<typeof SecretsFile>;

/** Services that have their own PostgreSQL user. */
export const postgresServices = [
  'Auth',
  'Deployment',
  'Ide',
  'Marketplace',
  'Payment',
  'Publicapi',
  'Team',
  'Workspace',
  'UsageAggregationRefresher',
  'UsageAggregationReader',
] as const;

export const fileSecret = (name: string, file: string, content: string): Secret => ({
  name,
  file: { name: file, content },
});
export const fieldSecret = (name: string, password: string, username?: string): Secret => ({
  name,
  fields: { ...(username === undefined ? {} : { username }), password },
});

export const findSecret = (file: SecretsFile | undefined, name: string): Secret | undefined =>
  file?.secrets.find((secret) => secret.name === name);

/** Secrets of one datacenter alone. A second datacenter doesn't copy them from the first. */
export const isDatacentersOwn = (name: string): boolean =>
  ['selfSignedCaKeyPem', 'kubeConfig', 'acmeEabMacKey'].includes(name) || /^(ceph|csi|rgw)/.test(name);

/** Secrets that the hosts write into the file after their installation. A copy elsewhere never overrides them. */
export const isWrittenByHosts = (name: string): boolean =>
  name === 'kubeConfig' || (/^(ceph|csi|rgw)/.test(name) && name !== 'cephSshPrivateKey');

/** An existing file, and the identity that opens it. */
export interface StandingSecrets {
  readonly text: string;
  readonly identity: string;
}

/** Written over `like`, the file keeps its recipients, rules and comments, since a person may have set them with sops. */
export const encryptSecrets = (
  file: SecretsFile,
  recipient: string,
  means: SopsMeans,
  like?: StandingSecrets,
): Promise<string> =>
  like === undefined
    ? encryptSops(file as SopsTree, [recipient], means)
    : rewriteSops(like.text, like.identity, file as SopsTree, means);

/**
 * The secrets in an encrypted text. `Problem` bad-input if it is not ours, was tampered with, or has another form. `whose`
 * names the file in the message.
 */
export async function decryptSecrets(text: string, identity: string, whose = 'The secrets file'): Promise<SecretsFile> {
  const tree = await openWhole(text, identity).catch((error: unknown) => {
    throw error instanceof Problem ? named(error, whose) : error;
  });
  const parsed = SecretsFile.safeParse(tree);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map((issue) => formFault(tree, issue));
  const faults = errors.map(({ path, message }) => `${path} ${message}`);
  throw new Problem('bad-input', `${whose} does not have the form that it must have: ${faults.join('; ')}.`, {
    errors,
    advice: 'Correct it with sops, or move it aside: it is then written again from what the bootstrap holds.',
  });
}

/** Names the secret, and never quotes a value. */
function formFault(tree: unknown, issue: z.core.$ZodIssue): Fault {
  const [, place, ...fields] = issue.path;
  const path =
    issue.path[0] === 'secrets' && typeof place === 'number'
      ? [secretAt(tree, place), ...fields].join('.')
      : issue.path.join('.') || 'secrets';
  return { path, message: formText(issue, valueAt(tree, issue.path)) };
}

function formText({ code, message, ...issue }: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return 'is missing';
  if (code === 'unrecognized_keys' && 'keys' in issue) return `has what it may not have: ${issue.keys.join(', ')}`;
  if (code === 'too_small') return 'is empty';
  if (code === 'invalid_value') return 'must be 1';
  if (code !== 'invalid_type' || !('expected' in issue)) return message;
  if (issue.expected !== 'string') return `must be ${issue.expected === 'array' ? 'a list' : 'keys and their values'}`;
  return typeof value === 'object' ? 'must be text' : 'must be text: put it in quotes';
}

/** Its name, unless that is no plain word. */
function secretAt(tree: unknown, place: number): string {
  const name = valueAt(tree, ['secrets', place, 'name']);
  return typeof name === 'string' && /^[\w.-]{1,64}$/.test(name) ? name : `secret ${place + 1}`;
}

const valueAt = (tree: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce((within: unknown, key) => (within as Partial<Record<PropertyKey, unknown>> | null)?.[key], tree);

/** The values at these paths are never written in clear, whatever rule a person set. */
const secretPaths = [
  ['secrets', 'fields', 'password'],
  ['secrets', 'file', 'content'],
] as const;

async function openWhole(text: string, identity: string): Promise<unknown> {
  const tree = await decryptSops(text, identity);
  const file = parseSops(text);
  const isEncrypted = await encryptionRule(file);
  const clear = secretPaths.filter((path) => !isEncrypted(path)).map((path) => path.join('.'));
  if (clear.length === 0) return tree;
  throw refuse(
    `by its own rule (${ruleName(file)}) it leaves ${clear.join(' and ')} in clear`,
    'Decrypt it with sops, and encrypt it again without a rule, or with one that covers password and content.',
  );
}

const named = ({ code, detail, advice }: Problem, whose: string): Problem =>
  new Problem(
    code,
    detail.replace(/^The secrets file/, () => whose),
    { ...(advice !== undefined && { advice }) },
  );

/**
 * Removes from `under` what a younger `over` lacks, because a person took it out with sops. What hosts wrote stays, because
 * the person has not seen it.
 */
export function withoutRemoved(
  under: SecretsFile,
  over: SecretsFile,
  texts: { under: string; over: string },
): SecretsFile {
  if (!(lastModified(texts.over) > lastModified(texts.under))) return under;
  const left = under.secrets.filter(({ name }) => isWrittenByHosts(name) || findSecret(over, name) !== undefined);
  return { ...under, secrets: left };
}

/** Whether both decrypt to the same content, so that an unchanged file isn't written again. Encrypted texts always differ. */
export async function sameSecrets(one: string, other: string, identity: string): Promise<boolean> {
  if (one === other) return true;
  const [a, b] = await Promise.all([decryptSecrets(one, identity), decryptSecrets(other, identity)]);
  return sameContent(a, b);
}

/** Whether the contents are equal. The order of keys and secrets doesn't matter. */
export const sameContent = (a: SecretsFile, b: SecretsFile): boolean => canonical(a) === canonical(b);

/** Whether both have the same recipients and the same rule. A person may have changed only those. */
export const sameForm = (one: string, other: string): boolean => sopsForm(one) === sopsForm(other);

const canonical = (file: SecretsFile): string =>
  JSON.stringify(
    [...file.secrets]
      .sort((x, y) => (x.name < y.name ? -1 : 1))
      .map(({ name, file, fields }) => [name, file?.name, file?.content, fields?.username, fields?.password]),
  );
