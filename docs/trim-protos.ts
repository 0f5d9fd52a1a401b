/**
 * Cuts a protos.json of Google's clients to the services that a bundle speaks to and the messages these need: compute's whole
 * one is 4 MB and is turned into classes on first use. Called by docs/function-bundle.ts.
 */

/** The parts of protobuf.js's JSON form that lead from one type to another. */
export interface ProtoNode {
  readonly nested?: Readonly<Record<string, ProtoNode>>;
  readonly fields?: Readonly<Record<string, { readonly type: string; readonly keyType?: string }>>;
  readonly methods?: Readonly<Record<string, { readonly requestType: string; readonly responseType: string }>>;
}

/** `path`: of the package that is cut, such as `google.cloud.compute.v1`; its siblings of other versions go, all else stays. */
export function trimProtos(root: ProtoNode, path: string, services: ReadonlySet<string>): ProtoNode {
  const [head, ...rest] = path.split('.') as [string, ...string[]];
  const child = root.nested?.[head];
  if (child === undefined) throw new Error(`protos.json has no ${path}`);
  if (rest.length > 0) {
    const trimmed = trimProtos(child, rest.join('.'), services);
    return { ...root, nested: { ...root.nested, [head]: trimmed } };
  }
  return { ...root, nested: { [head]: keep(child, services) } };
}

function keep(versioned: ProtoNode, services: ReadonlySet<string>): ProtoNode {
  const all = versioned.nested ?? {};
  const kept = new Set<string>();
  const queue: string[] = [];
  const want = (type: string): void => {
    // Types of other packages stay in any case; a nested one comes with the message that holds it.
    const name = [type, ...type.split('.')].find((each) => Object.hasOwn(all, each));
    if (name === undefined || kept.has(name)) return;
    kept.add(name);
    queue.push(name);
  };
  for (const service of services) {
    if (all[service]?.methods === undefined) throw new Error(`protos.json has no service ${service}`);
    want(service);
  }
  const look = (node: ProtoNode): void => {
    for (const { type } of Object.values(node.fields ?? {})) want(type);
    for (const { requestType, responseType } of Object.values(node.methods ?? {})) {
      want(requestType);
      want(responseType);
    }
    for (const nested of Object.values(node.nested ?? {})) look(nested);
  };
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) look(all[name] as ProtoNode);
  return { ...versioned, nested: Object.fromEntries(Object.entries(all).filter(([name]) => kept.has(name))) };
}
