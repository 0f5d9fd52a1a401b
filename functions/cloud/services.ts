/** Wraps Service Usage: which APIs a project has enabled. */
import { type LongRunningAnswer, readLongRunning } from './operations.js';
import { createRest, type Transport } from './rest.js';

export function createServices(transport: Transport) {
  const rest = createRest(transport, 'serviceusage');
  return {
    /** The enabled ones of the given services. At most 20. */
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

    /** Atomic. At most 20. */
    async enable(projectId: string, services: readonly string[]) {
      const doing = `enable APIs in ${projectId}`;
      const path = `/v1/projects/${projectId}/services:batchEnable`;
      return readLongRunning(
        await rest<LongRunningAnswer>('POST', path, { doing, body: { serviceIds: services } }),
        doing,
      );
    },

    async operation(name: string) {
      const answer = await rest<LongRunningAnswer>('GET', `/v1/${name}`, { doing: 'read how far the APIs are' });
      return readLongRunning(answer, 'enable APIs');
    },
  };
}
