/** The form of `PLINTH_SSH_PROXY`: an HTTP CONNECT proxy that asks for no login. */
export const sshProxyForm = /^http:\/\/(?:[\w.-]+|\[[\da-f:]+\]):\d{1,5}\/?$/i;
export const sshProxyRule = 'must be http://host:port';
