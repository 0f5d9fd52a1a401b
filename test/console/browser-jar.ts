/** A browser as far as HTTP goes: it keeps cookies, and names the page that a POST comes from. */

interface Visit {
  readonly method?: 'GET' | 'POST';
  /** Of the page that asks. Default: none. */
  readonly origin?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BrowserJar {
  /** As `Cookie` sends them. */
  cookies: string;
  /** Follows no redirect. */
  visit(url: string, visit?: Visit): Promise<Response>;
}

export function makeBrowserJar(): BrowserJar {
  const kept = new Map<string, string>();
  return {
    get cookies() {
      return [...kept].map(([name, value]) => `${name}=${value}`).join('; ');
    },
    set cookies(text) {
      kept.clear();
      for (const each of text.split('; ')) kept.set(each.split('=', 1)[0] ?? '', each.slice(each.indexOf('=') + 1));
    },
    async visit(url, { method = 'GET', origin, headers = {} } = {}) {
      const reply = await fetch(url, {
        method,
        redirect: 'manual',
        headers: {
          ...headers,
          ...(kept.size > 0 && { cookie: this.cookies }),
          ...(origin !== undefined && { origin }),
        },
      });
      for (const set of reply.headers.getSetCookie()) {
        const [pair = '', ...attributes] = set.split('; ');
        const [name = '', value = ''] = [pair.split('=', 1)[0], pair.slice(pair.indexOf('=') + 1)];
        if (attributes.includes('Max-Age=0')) kept.delete(name);
        else kept.set(name, value);
      }
      return reply;
    },
  };
}
