/** Arithmetic for the simulated network: ranges, members, free addresses. All is IPv4 but for the form of a range. */
import { isIPv6 } from 'node:net';

export interface Range {
  readonly first: number;
  readonly last: number;
  readonly prefix: number;
}

export function parseIp(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  const parts = match.slice(1).map(Number);
  return parts.some((part) => part > 255) ? undefined : parts.reduce((sum, part) => sum * 256 + part, 0);
}

export const formatIp = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

/** Undefined unless the text is a range written with its first address. */
export function parseRange(text: string): Range | undefined {
  const [ip = '', bits = ''] = text.split('/');
  const first = parseIp(ip);
  const prefix = /^\d{1,2}$/.test(bits) ? Number(bits) : -1;
  if (first === undefined || prefix < 0 || prefix > 32) return undefined;
  const size = 2 ** (32 - prefix);
  return first % size === 0 ? { first, last: first + size - 1, prefix } : undefined;
}

/** Whether the text is a range of IPv6 that is written with its first address. */
export function isIpv6Range(text: string): boolean {
  const [ip = '', bits = '', ...rest] = text.split('/');
  if (rest.length > 0 || !isIPv6(ip) || ip.includes('%') || !/^\d{1,3}$/.test(bits) || Number(bits) > 128) return false;
  const [head = '', tail = ''] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string) => part.split(':').filter((each) => each !== '');
  const zeros = Array<string>(8 - groups(head).length - groups(tail).length).fill('0');
  const all = [...groups(head), ...zeros, ...groups(tail)];
  const digits = all.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0')).join('');
  return !digits.slice(Number(bits)).includes('1');
}

export const overlap = (a: Range, b: Range): boolean => a.first <= b.last && b.first <= a.last;

export const contains = (range: Range, ip: number): boolean => range.first <= ip && ip <= range.last;

/** The lowest free host of a subnet. Google keeps the first two and the last two addresses for itself. */
export function freeIp(range: Range, taken: ReadonlySet<string>): string | undefined {
  for (let ip = range.first + 2; ip <= range.last - 2; ip++) {
    const text = formatIp(ip);
    if (!taken.has(text)) return text;
  }
  return undefined;
}
