/** Whether a URL's host name means this computer, so that plain HTTP is safe. Names under `localhost` do (RFC 6761). */
export const isLoopback = (hostname: string): boolean => /^(?:(?:.+\.)?localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
