/** Reads host keys from the serial console of a VM, where cloud-init prints them at the first boot (module keys_to_console). */

const block = /^-----BEGIN SSH HOST KEY KEYS-----\r?\n([\s\S]*?)^-----END SSH HOST KEY KEYS-----\r?$/m;

/**
 * Each is `<type> <base64>`; empty before they are printed. Only the first block counts: it was printed before anybody could
 * log in and print another.
 */
export function hostKeysOnConsole(text: string): string[] {
  const lines = (block.exec(text)?.[1] ?? '').split(/\r?\n/);
  return lines.flatMap((line) => {
    const [, type, key] = /^((?:ssh|ecdsa)-[a-z0-9-]+) ([A-Za-z0-9+/]+=*)(?: |$)/.exec(line) ?? [];
    return type === undefined ? [] : [`${type} ${key}`];
  });
}
