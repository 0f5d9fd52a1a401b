/** When Compute Engine created a resource, as outputs store it. Its cost counts from then on. */
export function madeAt({ creationTimestamp }: { readonly creationTimestamp?: string | undefined }): {
  createdAt?: string;
} {
  const time = Date.parse(creationTimestamp ?? '');
  return Number.isNaN(time) ? {} : { createdAt: new Date(time).toISOString() };
}

/** When Compute Engine stopped the VM last, or took it away. */
export function stoppedAt({ lastStopTimestamp }: { readonly lastStopTimestamp?: string | undefined }): {
  stoppedAt?: string;
} {
  const time = Date.parse(lastStopTimestamp ?? '');
  return Number.isNaN(time) ? {} : { stoppedAt: new Date(time).toISOString() };
}
