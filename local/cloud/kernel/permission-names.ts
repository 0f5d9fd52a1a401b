/** The permission that a method needs, by the method's name. */

/** Verbs of methods and of permissions, where they differ. */
const verbs: Readonly<Record<string, string>> = {
  insert: 'create',
  aggregatedList: 'list',
  batchEnable: 'enable',
  batchGet: 'get',
  patch: 'update',
  search: 'list',
  wait: 'get',
};

/** Permissions whose noun and verb both differ from the method's. */
const renamed: Readonly<Record<string, string>> = {
  'artifactregistry.operations.get': 'artifactregistry.repositories.get',
  'cloudscheduler.jobs.resume': 'cloudscheduler.jobs.enable',
  'secretmanager.secrets.addVersion': 'secretmanager.versions.add',
  'storage.buckets.getStorageLayout': 'storage.objects.list',
};

/**
 * `compute.instances.insert` → `compute.instances.create`. `secretmanager.projects.secrets.get` → `secretmanager.secrets.get`.
 */
export function permissionOf(method: string): string {
  const [service = '', ...rest] = method.split('.');
  const scopes =
    service === 'compute' || service === 'dns' || service === 'cloudresourcemanager' ? [] : ['projects', 'locations'];
  const nouns = rest.slice(0, -1).filter((noun, i) => i === rest.length - 2 || !scopes.includes(noun));
  const noun = nouns.at(-1) ?? '';
  const verb = rest.at(-1) ?? '';
  const family = service === 'cloudresourcemanager' ? 'resourcemanager' : service;
  const plain = `${family}.${noun}.${verb}`;
  return renamed[plain] ?? `${family}.${noun}.${verbs[verb] ?? verb}`;
}
