/** A simulated cloud with one project that is ready for everything, and a bare HTTP client of it. */
import { createSimulatedCloud, type SimulatedCloud, type SimulatedCloudOptions } from '../../local/cloud/index.js';
import type { JsonObject, SimulatedApi } from '../../local/cloud/kernel/api.js';

export const project = 'ready-project';
export const owner = 'alice@example.com';
export const stranger = 'bob@example.com';

export const services = [
  'compute',
  'dns',
  'artifactregistry',
  'secretmanager',
  'pubsub',
  'publicca',
  'cloudscheduler',
  'storage',
  'iam',
  'serviceusage',
  'cloudresourcemanager',
  'orgpolicy',
  'oslogin',
  'cloudquotas',
].map((name) => `${name}.googleapis.com`);

/** `roles/owner` makes no projects, and sees no folders: so an administrator of an organization has these besides. */
export const ownersBindings = ['owner', 'resourcemanager.organizationAdmin', 'resourcemanager.projectCreator'].map(
  (role) => ({ resource: 'organizations/100', role: `roles/${role}`, members: [`user:${owner}`] }),
);

export interface Reply {
  readonly status: number;
  readonly body: JsonObject;
  /** `errors[0].reason`, or the status where there is none. */
  readonly reason: string;
  readonly message: string;
}

export interface ReadyCloud extends SimulatedCloud {
  /** `POST /compute/v1/projects/…`; a project's name may be written as `P`. */
  call(
    api: SimulatedApi,
    line: string,
    body?: unknown,
    options?: { as?: string; token?: string | undefined; text?: string },
  ): Promise<Reply>;
}

export async function readyCloud(options: SimulatedCloudOptions = {}): Promise<ReadyCloud> {
  const cloud = await createSimulatedCloud({
    ...options,
    initial: {
      organizations: [{ name: 'organizations/100', displayName: 'example.com' }],
      billingAccounts: [{ name: 'billingAccounts/000000-000000-000000', displayName: 'Billing' }],
      projects: [
        {
          projectId: project,
          parent: 'organizations/100',
          billingAccountName: 'billingAccounts/000000-000000-000000',
          services,
        },
        { projectId: 'unpaid-project', parent: 'organizations/100', services },
        {
          projectId: 'bare-project',
          parent: 'organizations/100',
          billingAccountName: 'billingAccounts/000000-000000-000000',
          services: [],
        },
      ],
      bindings: ownersBindings,
      ...options.initial,
    },
  });
  const call: ReadyCloud['call'] = async (api, line, body, { as = owner, text, ...given } = {}) => {
    const [method = 'GET', path = ''] = line.split(' ');
    const token = 'token' in given ? given.token : cloud.identity.accessToken(as);
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(cloud.endpoints[api] + path.replaceAll(/\/P(?=[/?]|$)/g, `/${project}`), {
      method,
      headers: {
        // A cloud that starts anew takes its ports again: a connection that was kept may be one to the cloud before it.
        connection: 'close',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const answer = await response.text();
    const parsed = (answer.startsWith('{') ? JSON.parse(answer) : { text: answer }) as JsonObject;
    const error = (parsed['error'] ?? {}) as { message?: string; status?: string; errors?: { reason: string }[] };
    return {
      status: response.status,
      body: parsed,
      reason: error.errors?.[0]?.reason ?? error.status ?? '',
      message: error.message ?? '',
    };
  };
  return { ...cloud, call };
}
