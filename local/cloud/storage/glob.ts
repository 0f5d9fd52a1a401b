/** The globs of `matchGlob`: `*` stays within a folder, `**` does not, and there are `?`, `[a-z]`, `[!a-z]` and `{one,two}`. */
import { GoogleError } from '../kernel/api.js';

export function globbed(glob: string): (name: string) => boolean {
  const pattern = patternOf(glob);
  return (name) => pattern.test(name);
}

function patternOf(glob: string): RegExp {
  try {
    return new RegExp(`^${translated(glob)}$`, 'su');
  } catch {
    // A range that runs backwards: `[z-a]`.
    throw new GoogleError(400, 'INVALID_ARGUMENT', `Invalid glob pattern: '${glob}'`, { reason: 'invalid' });
  }
}

const tokens = /\*\*|\*|\?|\[(!|\^)?([^\]]+)\]|\{([^}]*)\}|[\s\S]/gu;

const translated = (glob: string): string =>
  glob.replace(tokens, (token: string, not: string | undefined, set?: string, choices?: string) => {
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    if (set !== undefined) return `[${not === undefined ? '' : '^'}${set.replace(/[\\[\]^]/g, '\\$&')}]`;
    if (choices !== undefined) return `(?:${choices.split(',').map(translated).join('|')})`;
    return token.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
