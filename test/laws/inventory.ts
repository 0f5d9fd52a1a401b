/** What stands in a simulated cloud, without what differs between two ways to the same end: ids, times, addresses, operations. */
import type { SimulatedCloud } from '../../local/cloud/index.js';

/** Traces of how it came about, or tests' own; and keys of the public CA, which nobody can list and which die unused. */
const passing = /operations$|requests$|underWay$|^projects\.|^identity$|^ports$|^faults\.|^compute\.guests$|^publicca/;

/** Google's own, by the number of a project: it comes with Compute and goes with the project. */
const defaultAccount = /^\d+-compute@developer\.gserviceaccount\.com$/;

/** Names that Google makes up. */
const madeUp = /(\/default-route)-[^/]+$/;

type Tree = Readonly<Record<string, unknown>>;
const tree = (value: unknown): Tree => (typeof value === 'object' && value !== null ? (value as Tree) : {});

/** Of what is kept by name the names do; of the rest what is in them. */
const contents: Readonly<Record<string, (record: Tree) => unknown>> = {
  projects: ({ state, labels, billingAccountName, services }) => ({
    state,
    labels: Object.keys(tree(labels)).sort(),
    billingAccountName,
    services: Object.keys(tree(services)).sort(),
  }),
  'iam.policies': ({ policy }) => grantsOf(policy),
  'secretmanager.secrets': ({ versions }) => Object.keys(tree(versions)).length,
  // How often it was asked for.
  'cloudquotas.preferences': ({ turn, preferred }) => [turn, preferred],
  'dns.zones': (zone) => namesOf(zone),
};

export function inventory(cloud: SimulatedCloud): Record<string, unknown> {
  const { tables } = cloud.state() as unknown as { tables: Record<string, Record<string, unknown>> };
  const policies = Object.entries(tables['iam.policies'] ?? {});
  tables['iam.policies'] = Object.fromEntries(
    policies.filter(([, record]) => grantsOf(tree(record)['policy']).length > 0),
  );
  return Object.fromEntries(
    Object.entries(tables)
      .filter(([name, table]) => !passing.test(name) && Object.keys(table).some((key) => !defaultAccount.test(key)))
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, table]) => [
        name,
        Object.keys(table)
          .filter((key) => !defaultAccount.test(key))
          .sort()
          .map((key) => {
            const content = contents[name];
            const shown = key.replace(madeUp, '$1');
            return content === undefined ? shown : [shown, content(tree(table[key]))];
          }),
      ]),
  );
}

/** `role member`, wherever they are in the record. */
function grantsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(grantsOf).sort();
  const { role, members } = tree(value);
  if (typeof role === 'string' && Array.isArray(members)) return members.map((member) => `${role} ${member}`);
  return Object.values(tree(value)).flatMap(grantsOf).sort();
}

/** Names of records, but not of the changes that wrote them. */
function namesOf(zone: Tree): string[] {
  const { changes: _changes, ...rest } = zone;
  const found: string[] = [];
  const walk = (value: unknown): void => {
    const { name, rrdatas } = tree(value);
    if (typeof name === 'string' && Array.isArray(rrdatas)) found.push(name);
    for (const each of Object.values(tree(value))) walk(each);
  };
  walk(rest);
  return found.sort();
}
