/** When Compute Engine made a thing, as outputs keep it: what it costs is counted from then. */
export function madeAt({ creationTimestamp }: { readonly creationTimestamp?: string | undefined }): {
  createdAt?: string;
} {
  const time = Date.parse(creationTimestamp ?? '');
  return Number.isNaN(time) ? {} : { createdAt: new Date(time).toISOString() };
}
