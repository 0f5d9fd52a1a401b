/**
 * The names by which machines reach the stand-ins for registries. Names beneath `localhost` exist on this computer alone (RFC
 * 6761). Loopback's address would not do, because programs such as skopeo bypass the proxy for it.
 */
export const outsideNames = {
  forge1Registry: 'registry.forge1.localhost',
  artifactRegistry: 'docker.pkg.localhost',
} as const;
