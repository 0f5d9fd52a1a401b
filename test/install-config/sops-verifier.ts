/** An independent reader of the SOPS YAML form with age, written from the format's description on node:crypto alone; only for tests. */
import { createDecipheriv, createHash } from 'node:crypto';
import { Decrypter } from 'age-encryption';
import { isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml';

export interface Verified {
  /** Every leaf: its keys joined by `:`, without list indices, and its plaintext. */
  readonly leaves: readonly (readonly [path: string, plaintext: string, type: string])[];
  readonly macMatches: boolean;
}

export async function verifySops(text: string, identity: string): Promise<Verified> {
  const document = parseDocument(text);
  const root = document.contents;
  if (!isMap(root)) throw new Error('no map');
  const armored = document.getIn(['sops', 'age', 0, 'enc']) as string;
  const base64 = armored
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('-----'))
    .join('');
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const key = Buffer.from(await decrypter.decrypt(Buffer.from(base64, 'base64')));

  const leaves: [string, string, string][] = [];
  const visit = (node: Node, path: string[]): void => {
    if (isMap(node)) {
      for (const { key: name, value } of node.items) {
        const title = String((name as { value: unknown }).value);
        if (path.length > 0 || title !== 'sops') visit(value as Node, [...path, title]);
      }
    } else if (isSeq(node)) {
      for (const item of node.items) visit(item as Node, path);
    } else if (isScalar(node) && node.value !== null) {
      const [plaintext, type] = openValue(String(node.value), key, `${path.join(':')}:`);
      leaves.push([path.join(':'), plaintext, type]);
    }
  };
  visit(root, []);

  const hash = createHash('sha512');
  for (const [, plaintext] of leaves) hash.update(plaintext);
  const [mac] = openValue(
    document.getIn(['sops', 'mac']) as string,
    key,
    document.getIn(['sops', 'lastmodified']) as string,
  );
  return { leaves, macMatches: mac === hash.digest('hex').toUpperCase() };
}

function openValue(value: string, key: Buffer, additional: string): [plaintext: string, type: string] {
  if (value === '') return ['', 'str'];
  const match = /^ENC\[AES256_GCM,data:(.*),iv:(.+),tag:(.+),type:(.+)\]$/.exec(value);
  if (match === null) throw new Error(`not encrypted: ${additional}`);
  const [data, iv, tag] = match.slice(1, 4).map((part) => Buffer.from(part, 'base64'));
  const decipher = createDecipheriv('aes-256-gcm', key, iv as Buffer, { authTagLength: 16 });
  decipher.setAAD(Buffer.from(additional));
  decipher.setAuthTag(tag as Buffer);
  return [Buffer.concat([decipher.update(data as Buffer), decipher.final()]).toString('utf8'), match[4] as string];
}
