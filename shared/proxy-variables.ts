/** The variables that name a network's proxies. Some programs read the upper-case names, some the lower-case ones. */
export const proxyVariables = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
]);
