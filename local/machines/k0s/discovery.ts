/**
 * What the API server says about itself: groups, kinds, version, and enough OpenAPI for kubectl to send objects without
 * checking them.
 */
import { apiOf, type Kind, kinds } from './kinds.js';

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

const groupVersions = [...new Set(kinds.map(apiOf))];
const pathOf = (api: string): string => (api.includes('/') ? `apis/${api}` : `api/${api}`);

const resourceList = (api: string) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: api,
  resources: kinds
    .filter((each) => apiOf(each) === api)
    .flatMap((each) => {
      const facts = { singularName: each.kind.toLowerCase(), namespaced: each.namespaced, kind: each.kind };
      return [
        { name: each.plural, ...facts, verbs, ...(each.short.length > 0 ? { shortNames: each.short } : {}) },
        ...(each.hasStatus
          ? [{ name: `${each.plural}/status`, ...facts, singularName: '', verbs: ['get', 'patch', 'update'] }]
          : []),
      ];
    }),
});

const groupList = () => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groupVersions
    .filter((api) => api.includes('/'))
    .map((groupVersion) => {
      const [name, version] = groupVersion.split('/');
      const known = { groupVersion, version };
      return { name, versions: [known], preferredVersion: known };
    }),
});

/** Declares that the server checks fields. Otherwise kubectl asks for the schemas of all kinds. */
const openApi = (api: string) => {
  const paths = kinds
    .filter((each) => apiOf(each) === api)
    .map((each: Kind) => {
      const gvk = { group: each.group, version: each.version, kind: each.kind };
      const parameters = [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }];
      const path = `/${pathOf(api)}/${each.namespaced ? 'namespaces/{namespace}/' : ''}${each.plural}/{name}`;
      return [path, { patch: { parameters, responses: {}, 'x-kubernetes-group-version-kind': gvk } }];
    });
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: Object.fromEntries(paths),
    components: { schemas: {} },
  };
};

/** Undefined if there is no such page. `version` is that of k0s, such as v1.31.14+k0s.0. */
export function discovered(path: string, version: string): unknown {
  switch (path) {
    case '/version': {
      const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
      return { major, minor, gitVersion: version.replace(/\+k0s\.\d+$/, '+k0s'), platform: 'linux/amd64' };
    }
    case '/healthz':
    case '/readyz':
    case '/livez':
      return 'ok';
    case '/api':
      return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
    case '/apis':
      return groupList();
    case '/openapi/v3':
      return {
        paths: Object.fromEntries(
          groupVersions.map((api) => [pathOf(api), { serverRelativeURL: `/openapi/v3/${pathOf(api)}` }]),
        ),
      };
    default: {
      const api = groupVersions.find((each) => path === `/${pathOf(each)}`);
      if (api !== undefined) return resourceList(api);
      const described = groupVersions.find((each) => path === `/openapi/v3/${pathOf(each)}`);
      return described === undefined ? undefined : openApi(described);
    }
  }
}
