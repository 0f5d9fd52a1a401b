/** Resources of a deployment that are made through the simulated APIs, as whoever deploys makes them: secrets, jobs, buckets, a zone. */
import { randomBytes } from 'node:crypto';
import { deploymentSecrets } from '../../shared/names.js';
import type { SimulatedCloud } from '../cloud/index.js';
import { functionUrl, invokers, local, people, schedules } from './deployment.js';

type ReachedCloud = Pick<SimulatedCloud, 'endpoints' | 'identity'>;

/**
 * Calls the API as the person who deploys. Returns the status of a success, a conflict, or a GET of something missing. Throws
 * otherwise.
 */
async function asAdmin(cloud: ReachedCloud, method: string, url: string, body?: object): Promise<number> {
  const reply = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${cloud.identity.accessToken(people.admin)}`,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok && reply.status !== 409 && !(method === 'GET' && reply.status === 404))
    throw new Error(`The deployment cannot be made: ${method} ${url}: ${reply.status} ${text}`);
  return reply.status;
}

/** Makes a private bucket, unless it is there. */
export async function makeBucket(cloud: ReachedCloud, name: string): Promise<void> {
  await asAdmin(cloud, 'POST', `${cloud.endpoints.storage}/storage/v1/b?project=${local.project}`, {
    name,
    location: local.region,
    iamConfiguration: { uniformBucketLevelAccess: { enabled: true }, publicAccessPrevention: 'enforced' },
  });
}

/** Makes the zone that existed before plinth was deployed. It stays as it is. */
export async function makeStandingZone(cloud: ReachedCloud): Promise<void> {
  const { project, name } = local.standingZone;
  await asAdmin(cloud, 'POST', `${cloud.endpoints.dns}/dns/v1/projects/${project}/managedZones`, {
    name,
    dnsName: `${local.domain}.`,
    description: 'Shared by bootstraps',
  });
}

/** What operators give has the form that its receiver asks for. */
function textOf(id: string, key: string): string {
  if (id === deploymentSecrets.webhookKey) return `whsec_${key}`;
  return id === deploymentSecrets.consoleClient ? local.consoleClientSecret : key;
}

/** Makes each secret once per deployment. An existing version stays. */
export async function makeDeploymentSecrets(cloud: ReachedCloud): Promise<void> {
  const secrets = `${cloud.endpoints.secretmanager}/v1/projects/${local.project}/secrets`;
  const ask = (method: string, path: string, body?: object) => asAdmin(cloud, method, `${secrets}${path}`, body);
  for (const id of Object.values(deploymentSecrets)) {
    await ask('POST', `?secretId=${id}`, { replication: { automatic: {} } });
    // Not by a list, because lists lag behind.
    if ((await ask('GET', `/${id}/versions/1`)) === 200) continue;
    const text = textOf(id, randomBytes(32).toString('base64'));
    await ask('POST', `/${id}:addVersion`, { payload: { data: Buffer.from(text).toString('base64') } });
  }
}

/** If the functions have moved, the jobs follow them. A paused job stays paused. */
export async function makeScheduledJobs(cloud: ReachedCloud, origin: string): Promise<void> {
  const parent = `projects/${local.project}/locations/${local.region}`;
  const ask = (method: string, path: string, body: object) =>
    asAdmin(cloud, method, `${cloud.endpoints.cloudscheduler}/v1/${path}`, body);
  for (const { job, target, schedule, deadlineSeconds } of schedules) {
    const uri = functionUrl(origin, target);
    const wanted = {
      schedule,
      timeZone: 'Etc/UTC',
      attemptDeadline: `${deadlineSeconds}s`,
      httpTarget: {
        uri,
        httpMethod: 'POST',
        oidcToken: { serviceAccountEmail: invokers.scheduler, audience: uri },
      },
    };
    const name = `${parent}/jobs/${job}`;
    const made = await ask('POST', `${parent}/jobs`, { ...wanted, name });
    if (made === 409) await ask('PATCH', `${name}?updateMask=schedule,timeZone,attemptDeadline,httpTarget`, wanted);
  }
}
