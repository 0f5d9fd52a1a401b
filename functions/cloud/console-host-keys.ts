/** Reads the host keys of a VM from its guest attributes, and from its serial console. Root there may write anything to either. */
import { hostKeysIn } from '../../shared/ssh-public-key.js';

interface Attribute {
  readonly key?: string;
  readonly value?: string;
}

/**
 * Each is `<type> <base64>`. What is no host key is left out. The guest agent publishes the second word of the key's file. Where
 * the file has no comment, the end of its line belongs to that word.
 */
export const hostKeysOfAttributes = (items: readonly Attribute[]): string[] =>
  hostKeysIn(items.map(({ key = '', value = '' }) => `${key} ${value.replace(/\n$/, '')}`));

const block = /^-----BEGIN SSH HOST KEY KEYS-----\r?\n([\s\S]*?)^-----END SSH HOST KEY KEYS-----\r?$/m;

/**
 * Each is `<type> <base64>`; empty before cloud-init prints them at the first boot (module keys_to_console). Only the first
 * block counts: it was printed before anybody could log in and print another.
 */
export function hostKeysOnConsole(text: string): string[] {
  const lines = (block.exec(text)?.[1] ?? '').split(/\r?\n/);
  return hostKeysIn(lines.map((line) => line.split(' ').slice(0, 2).join(' ')));
}
