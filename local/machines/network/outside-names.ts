/**
 * What machines call the registries that stand for others: names beneath `localhost`, as these are at hand here alone (RFC 6761),
 * but not loopback's address, for which programs such as skopeo ask no proxy.
 */
export const outsideNames = {
  forge1Registry: 'registry.forge1.localhost',
  artifactRegistry: 'docker.pkg.localhost',
} as const;
