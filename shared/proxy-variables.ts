/** The variables by which programs are told the way out of a network; some read the one spelling, some the other. */
export const proxyVariables = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
]);
