/** Reads SSH public keys of machines and people, byte by byte: what passes is one key of a known type, in one line. */

/** Of RSA moduli. OpenSSH refuses host keys with fewer, and none has more. */
const rsaBits = { least: 1024, most: 16_384 };

/** What follows the type in the blob of a key (RFC 4253, 5656, 8709). */
const isWhole: Readonly<Record<string, (parts: readonly Uint8Array[]) => boolean>> = {
  'ssh-ed25519': ([key, ...more]) => key?.length === 32 && more.length === 0,
  'ecdsa-sha2-nistp256': isPoint('nistp256', 65),
  'ecdsa-sha2-nistp384': isPoint('nistp384', 97),
  'ecdsa-sha2-nistp521': isPoint('nistp521', 133),
  'ssh-rsa': ([exponent, modulus, ...more]) =>
    isPositive(exponent) && isPositive(modulus) && isLongEnough(modulus) && more.length === 0,
};

const isWholeOfUsers: typeof isWhole = {
  ...isWhole,
  'sk-ssh-ed25519@openssh.com': (parts) => parts.length === 2 && parts[0]?.length === 32,
  'sk-ecdsa-sha2-nistp256@openssh.com': (parts) => parts.length === 3 && isPoint('nistp256', 65)(parts.slice(0, 2)),
};

/** The types of host keys that plinth knows, best first. */
export const hostKeyTypes: readonly string[] = Object.keys(isWhole);

/**
 * The same line if it is `<type> <base64>` of a host key, and otherwise undefined. Its base64 is the only spelling of its
 * bytes, so equal keys are equal texts.
 */
export function hostKeyIn(line: string): string | undefined {
  const [type = '', base64 = '', ...more] = line.split(' ');
  const check = Object.hasOwn(isWhole, type) ? isWhole[type] : undefined;
  return check !== undefined && more.length === 0 && isBlob(type, base64, check) ? line : undefined;
}

/** Whether the line is a person's public key, which a comment may follow. A key in a security key names its application, too. */
export function isUserKey(line: string): boolean {
  const [type = '', base64 = ''] = line.split(' ');
  const check = Object.hasOwn(isWholeOfUsers, type) ? isWholeOfUsers[type] : undefined;
  return check !== undefined && !/[\r\n]/.test(line) && isBlob(type, base64, check);
}

function isBlob(type: string, base64: string, check: (parts: readonly Uint8Array[]) => boolean): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return false;
  const blob = Buffer.from(base64, 'base64');
  const [inner, ...parts] = partsOf(blob) ?? [];
  return blob.toString('base64') === base64 && Buffer.from(inner ?? '').toString('latin1') === type && check(parts);
}

/** Of many lines those that are host keys, each once. */
export const hostKeysIn = (lines: readonly string[]): string[] => [
  ...new Set(lines.flatMap((line) => hostKeyIn(line) ?? [])),
];

/** The algorithms by which a machine proves that it has one of these keys. */
export const signaturesOf = (types: readonly string[]): string[] => [
  ...new Set(types.flatMap((type) => (type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type]))),
];

/** Each part is preceded by its length. Undefined if the last one does not end where the blob does. */
function partsOf(blob: Buffer): Uint8Array[] | undefined {
  const parts: Uint8Array[] = [];
  let at = 0;
  while (at < blob.length) {
    if (at + 4 > blob.length) return undefined;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return undefined;
    parts.push(blob.subarray(at + 4, end));
    at = end;
  }
  return parts;
}

function isPoint(curve: string, length: number): (parts: readonly Uint8Array[]) => boolean {
  // 4: the point is not compressed.
  return ([name, point, ...more]) =>
    Buffer.from(name ?? '').toString('latin1') === curve &&
    point?.length === length &&
    point[0] === 4 &&
    more.length === 0;
}

/** An mpint: its first bit is its sign, and a leading zero stands only where it is needed. */
const isPositive = (number: Uint8Array | undefined): number is Uint8Array => {
  const [first, second] = number ?? [];
  return first !== undefined && first < 0x80 && (first !== 0 || (second ?? 0) >= 0x80);
};

const isLongEnough = (modulus: Uint8Array): boolean => {
  const bits = BigInt(`0x${Buffer.from(modulus).toString('hex')}`).toString(2).length;
  return bits >= rsaBits.least && bits <= rsaBits.most;
};
