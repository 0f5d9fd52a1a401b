/** What people ask of the service over HTTP, and which roles they have in the cloud. */
import type { Scene } from './scene.js';

export interface People {
  /** `path` begins with a slash. Another body than JSON comes as text. */
  ask<T = Record<string, unknown>>(
    email: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: T }>;
  statusOf(email: string, method: string, path: string, body?: object): Promise<number>;
  /** E-mails of the people who have the role on the project, sorted. */
  holders(projectId: string, role: string): string[];
}

export function peopleOf({ stack, cloud }: Pick<Scene, 'stack' | 'cloud'>): People {
  const people: People = {
    async ask<T>(email: string, method: string, path: string, body?: object) {
      const { idToken } = await stack.tokens(email);
      const reply = await fetch(`${stack.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await reply.text();
      const isJson = text.startsWith('{') || text.startsWith('[');
      return { status: reply.status, body: (isJson ? JSON.parse(text) : text) as T };
    },
    statusOf: async (...asked) => (await people.ask(...asked)).status,
    holders(projectId, wanted) {
      const { bindings = [] } = cloud.world.policies.get(`projects/${projectId}`, 3) as {
        bindings?: { role: string; members: string[] }[];
      };
      return bindings
        .filter(({ role }) => role === wanted)
        .flatMap(({ members }) => members)
        .filter((each) => each.startsWith('user:'))
        .map((each) => each.slice('user:'.length))
        .sort();
    },
  };
  return people;
}
