/** Service Usage: which APIs a project has enabled. */
import type { Operation } from './operations.js';
import { createRest, type Transport } from './rest.js';

export function createServices(transport: Transport) {
  const rest = createRest(transport, 'serviceusage');
  return {
    /** Of the given services those that are enabled; 20 at most. */
    async enabled(projectId: string, services: readonly string[]): Promise<string[]> {
      const { services: found = [] } = await rest<{ services?: { name: string; state?: string }[] }>(
        'GET',
        `/v1/projects/${projectId}/services:batchGet`,
        {
          doing: `read which APIs are enabled in ${projectId}`,
          query: { names: services.map((service) => `projects/${projectId}/services/${service}`) },
        },
      );
      const names = found.filter(({ state }) => state === 'ENABLED').map(({ name }) => name.split('/').at(-1));
      return services.filter((service) => names.includes(service));
    },

    /** Atomic; 20 at most. */
    enable: (projectId: string, services: readonly string[]) =>
      rest<Operation>('POST', `/v1/projects/${projectId}/services:batchEnable`, {
        doing: `enable APIs in ${projectId}`,
        body: { serviceIds: services },
      }),
  };
}
