/**
 * The ranges of addresses from which the jumpbox takes SSH, in the form that Google's firewall rules take, and what
 * PLINTH_MACHINE_ACCESS asks of them. Pure.
 */
import * as z from 'zod';
import type { MachineAccess } from './bootstrap/bootstrap.js';
import type { Fault } from './problems.js';

interface Range {
  /** As Google writes it back: the first address and the prefix, IPv6 in its shortest form. */
  readonly text: string;
  readonly bits: 32 | 128;
  readonly first: bigint;
  readonly last: bigint;
}

/** Every IPv4 address. */
export const everywhere = '0.0.0.0/0';

export const isIpv6Range = (range: string): boolean => range.includes(':');

/** `203.0.113.0/24`, `2001:db8::/32`. Google refuses a range that does not begin with its first address. */
const SourceRange = z.string().transform((given, context) => {
  const read = readRange(given);
  if (typeof read !== 'string') return read.text;
  context.addIssue({ code: 'custom', message: `has “${given}”, ${read}` });
  return z.NEVER;
});

/** Separated by commas. Undefined counts as none. */
export const SourceRanges = z
  .string()
  .transform((value) => value.split(',').map((each) => each.trim()))
  .transform((values) => [...new Set(values.filter((each) => each !== ''))])
  .pipe(z.array(SourceRange));

export interface GivenAccess {
  readonly machineAccess?: MachineAccess | undefined;
  readonly ranges?: readonly string[] | undefined;
  readonly open: boolean;
}

/** The ranges that hold: everywhere is never understood, only said. */
export const sourceRangesOf = ({ ranges = [], open }: GivenAccess): readonly string[] =>
  open && ranges.length === 0 ? [everywhere] : ranges;

const openWords = 'That opens port 22 of each jumpbox to everybody.';

/** Port 22 is open to all only where that is said twice: by the ranges or their absence, and by the second setting. */
export function accessFaults({ machineAccess, ranges, open }: GivenAccess): Fault[] {
  const faults: Fault[] = [];
  const told = (path: string, message: string) => faults.push({ path, message });
  const all = [32, 128].some((bits) => coversAll(ranges ?? [], bits));
  if (machineAccess === 'iap' && open)
    told(
      'PLINTH_MACHINE_ACCESS_OPEN',
      'is on, and goes only with PLINTH_MACHINE_ACCESS=direct. Take one of both away.',
    );
  // Ranges of a wrong form are told already.
  if (machineAccess !== 'direct' || ranges === undefined) return faults;
  if (ranges.length === 0 && !open)
    told(
      'PLINTH_SSH_SOURCE_RANGES',
      `is not set. With PLINTH_MACHINE_ACCESS=direct, name the ranges from which functions and people reach the jumpboxes, as 203.0.113.7/32. Or set PLINTH_MACHINE_ACCESS_OPEN=on. ${openWords}`,
    );
  else if (all && !open)
    told(
      'PLINTH_SSH_SOURCE_RANGES',
      `covers every address. ${openWords} If you mean it, set PLINTH_MACHINE_ACCESS_OPEN=on. Otherwise name fewer.`,
    );
  else if (open && ranges.length > 0 && !all)
    told(
      'PLINTH_MACHINE_ACCESS_OPEN',
      'is on, and PLINTH_SSH_SOURCE_RANGES names some addresses alone. Take one of both away.',
    );
  if (ranges.length > 0 && ranges.every(isIpv6Range))
    told('PLINTH_SSH_SOURCE_RANGES', 'names no IPv4 range, and a jumpbox has no other public address.');
  return faults;
}

/** Whether ranges of one family leave no address out, also by halves. */
function coversAll(texts: readonly string[], bits: number): boolean {
  const ranges = texts
    .map(readRange)
    .filter((range): range is Range => typeof range !== 'string' && range.bits === bits)
    .sort((a, b) => (a.first < b.first ? -1 : 1));
  let next = 0n;
  for (const { first, last } of ranges) {
    if (first > next) return false;
    if (last >= next) next = last + 1n;
  }
  return next === 2n ** BigInt(bits);
}

/** Whether a text is an IP address, in the form of either family. */
export const isAddress = (text: string): boolean => isOf(z.ipv4(), text) || isOf(z.ipv6(), text);

/** Whether an address is in a range. `::ffff:127.0.0.1` counts as the IPv4 address that it holds. */
export function isInRange(address: string, range: string): boolean {
  const wide = address.includes(':') ? ipv6(new URL(`http://[${address}]`).hostname.slice(1, -1)) : undefined;
  const mapped = wide !== undefined && wide >> 32n === 0xffffn;
  const value = wide === undefined ? ipv4(address) : mapped ? wide & 0xffff_ffffn : wide;
  const read = readRange(range);
  const bits = wide === undefined || mapped ? 32 : 128;
  return typeof read !== 'string' && read.bits === bits && read.first <= value && value <= read.last;
}

/** A text says what is wrong. */
function readRange(given: string): Range | string {
  const [address = '', prefix, ...rest] = given.split('/');
  const bits = isOf(z.ipv4(), address) ? 32 : isOf(z.ipv6(), address) && !/[.%]/.test(address) ? 128 : undefined;
  if (bits === undefined) return 'which is no range: write 203.0.113.0/24 or 2001:db8::/32';
  if (prefix === undefined) return `which has no prefix: write ${address}/${bits} for the one address`;
  if (rest.length > 0 || !/^(?:0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > bits)
    return `whose prefix must be a number from 0 to ${bits}`;
  const value = bits === 32 ? ipv4(address) : ipv6(address);
  const size = 2n ** BigInt(bits - Number(prefix));
  const first = value - (value % size);
  const text = `${bits === 32 ? ipv4Text(first) : ipv6Text(first)}/${prefix}`;
  if (first !== value) return `which begins before that address: write ${text}`;
  return { text, bits, first, last: first + size - 1n };
}

const isOf = (form: z.ZodType, text: string): boolean => form.safeParse(text).success;

const ipv4 = (address: string): bigint => address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);

const ipv4Text = (value: bigint): string => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');

function ipv6(address: string): bigint {
  const [head = '', tail] = address.split('::');
  const groups = (text: string | undefined) => (text === undefined || text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}

/** The parser of URLs writes the shortest form (RFC 5952). */
function ipv6Text(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(16 * (7 - index))) & 0xffffn).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
