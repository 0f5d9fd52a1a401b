/**
 * Cuts a protos.json of Google's clients to the services that a bundle speaks to and the messages these need: compute's whole
 * one is 4 MB, and all of it is turned into classes on first use.
 */

/** The parts of protobuf.js's JSON form that lead from one type to another. */
export interface ProtoNode {
  readonly nested?: Readonly<Record<string, ProtoNode>>;
  readonly fields?: Readonly<Record<string, { readonly type: string; readonly keyType?: string }>>;
  readonly methods?: Readonly<Record<string, { readonly requestType: string; readonly responseType: string }>>;
  readonly values?: Readonly<Record<string, number>>;
  /** Of a field that an option adds to protobuf's own messages. */
  readonly extend?: string;
}

const isPackage = ({ fields, methods, values, extend }: ProtoNode): boolean =>
  [fields, methods, values, extend].every((part) => part === undefined);

/** Services, messages and enums by their full names; what is nested in a message belongs to it. */
function declarations(node: ProtoNode, prefix = ''): [string, ProtoNode][] {
  return Object.entries(node.nested ?? {}).flatMap(([name, child]) =>
    isPackage(child) ? declarations(child, `${prefix}${name}.`) : [[`${prefix}${name}`, child] as [string, ProtoNode]],
  );
}

/** Names that stand in a type: of its own, and of what is nested in it. */
const typesIn = ({ fields = {}, methods = {}, nested = {} }: ProtoNode): string[] => [
  ...Object.values(fields).map(({ type }) => type),
  ...Object.values(methods).flatMap(({ requestType, responseType }) => [requestType, responseType]),
  ...Object.values(nested).flatMap(typesIn),
];

/** A name is looked for in its own package and in those around it; `Outer.Inner` comes with `Outer`. */
function find(all: ReadonlyMap<string, ProtoNode>, type: string, from: string): string | undefined {
  const scopes = from.split('.');
  const words = type.split('.');
  for (let depth = scopes.length - 1; depth >= 0; depth -= 1) {
    for (let length = words.length; length > 0; length -= 1) {
      const name = [...scopes.slice(0, depth), ...words.slice(0, length)].join('.');
      if (all.has(name)) return name;
    }
  }
  return undefined;
}

function keep(node: ProtoNode, kept: ReadonlySet<string>, prefix = ''): ProtoNode {
  const nested = Object.entries(node.nested ?? {}).flatMap(([name, child]): [string, ProtoNode][] => {
    if (!isPackage(child)) return kept.has(`${prefix}${name}`) ? [[name, child]] : [];
    const rest = keep(child, kept, `${prefix}${name}.`);
    return Object.keys(rest.nested ?? {}).length > 0 ? [[name, rest]] : [];
  });
  return { ...node, nested: Object.fromEntries(nested) };
}

/** `services`: full names, such as `google.cloud.compute.v1.Disks`. */
export function trimProtos(root: ProtoNode, services: readonly string[]): ProtoNode {
  const all = new Map(declarations(root));
  const kept = new Set<string>();
  const queue = services.map((service) => {
    if (all.get(service)?.methods === undefined) throw new Error(`protos.json has no service ${service}`);
    return service;
  });
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (kept.has(name)) continue;
    kept.add(name);
    for (const type of typesIn(all.get(name) as ProtoNode)) {
      const found = find(all, type, name);
      if (found !== undefined) queue.push(found);
    }
  }
  return keep(root, kept);
}
