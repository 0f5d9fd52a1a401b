/** The globs of `matchGlob`: `*` stays within a folder, `**` does not, and there are `?`, `[a-z]`, `[!a-z]` and `{one,two}`. */
export function globbed(glob: string): (name: string) => boolean {
  const pattern = new RegExp(`^${translated(glob)}$`, 'su');
  return (name) => pattern.test(name);
}

const tokens = /\*\*|\*|\?|\[(!|\^)?([^\]]+)\]|\{([^}]*)\}|[\s\S]/gu;

const translated = (glob: string): string =>
  glob.replace(tokens, (token: string, not: string | undefined, set?: string, choices?: string) => {
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    if (token === '?') return '[^/]';
    if (set !== undefined) return `[${not === undefined ? '' : '^'}${set.replace(/[\\[\]^&~|]/g, '\\$&')}]`;
    if (choices !== undefined) return `(?:${choices.split(',').map(translated).join('|')})`;
    return token.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  });
