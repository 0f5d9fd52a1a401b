/** Etags of policies and roles. They are bytes: both alphabets of base64 write them, with padding or without. */
import type { World } from '../kernel/api.js';

/** The same eight bytes in form as Google's: `BwXhqDVVjtU=`. */
export const freshEtag = (world: World): string =>
  Buffer.from([7, 5, ...Array.from({ length: 6 }, () => Math.floor(world.random() * 256))]).toString('base64');

export const isSameEtag = (one: string, other: string): boolean =>
  Buffer.from(one, 'base64').equals(Buffer.from(other, 'base64'));
