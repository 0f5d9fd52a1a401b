/** Hosts that are of this computer alone, to which plain HTTP is fine: as URLs have them. Names beneath `localhost` are (RFC 6761). */
export const isLoopback = (hostname: string): boolean => /^(?:(?:.+\.)?localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
