/** A simulated cloud in one of its worlds, with people who may change its policies and quotas, asked over HTTP. */
import { expect } from 'chai';
import { changeWorld } from '../../local/cloud/begin-world.js';
import type { SimulatedCloud, SimulatedCloudOptions } from '../../local/cloud/index.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import type { WorldSettings } from '../../local/cloud/worlds/settings.js';
import { region, vmBody, zone } from '../local-cloud/furnished.js';
import { owner, ownersBindings, project, type ReadyCloud, type Reply, readyCloud } from '../local-cloud/ready-cloud.js';

export const compute = '/compute/v1/projects/P';
export const vmPath = (name: string, at = zone): string => `projects/${project}/zones/${at}/instances/${name}`;

export interface OpenWorld extends ReadyCloud {
  /** `GET /_local/world`, or a change of it. */
  control(line: string, body?: unknown): Promise<{ status: number; body: JsonObject }>;
  /** Limits by metric, as regions.get shows them. */
  regionLimits(at?: string): Promise<Record<string, number>>;
  /** Limits by metric, as projects.get of Compute Engine shows them. */
  projectLimits(): Promise<Record<string, number>>;
  /** Makes a network with a subnetwork in each region. */
  makeNetwork(...regions: string[]): Promise<void>;
  insertVm(name: string, more?: object, at?: string): Promise<Reply>;
}

const role = 'organizations/100/roles/policyAndQuota';

export async function openWorld(options: SimulatedCloudOptions = {}): Promise<OpenWorld> {
  const cloud = await readyCloud({
    ...options,
    initial: {
      customRoles: [
        {
          name: role,
          title: 'Policies and quotas',
          permissions: [
            ...['create', 'update', 'delete', 'list'].map((verb) => `orgpolicy.policies.${verb}`),
            ...['orgpolicy.policy.get', 'orgpolicy.constraints.list'],
            ...['cloudquotas.quotas.get', 'cloudquotas.quotas.update'],
          ],
        },
      ],
      bindings: [
        ...ownersBindings,
        { resource: 'organizations/100', role, members: [`user:${owner}`] },
        ...['billing.admin', 'billing.user'].map((name) => ({
          resource: 'billingAccounts/000000-000000-000000',
          role: `roles/${name}`,
          members: [`user:${owner}`],
        })),
      ],
      ...options.initial,
    },
  });
  const limits = async (line: string): Promise<Record<string, number>> => {
    const { quotas } = (await cloud.call('compute', line)).body as unknown as {
      quotas: { metric: string; limit: number }[];
    };
    return Object.fromEntries(quotas.map(({ metric, limit }) => [metric, limit]));
  };
  const open: OpenWorld = {
    ...cloud,
    async control(line, body) {
      const [method = 'GET', path = ''] = line.split(' ');
      const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
      const headers = { connection: 'close' };
      const reply = await fetch(`${cloud.frontUrl}/_local/${path}`, { method, headers, ...sent });
      return { status: reply.status, body: (await reply.json()) as JsonObject };
    },
    regionLimits: (at = region) => limits(`GET ${compute}/regions/${at}`),
    projectLimits: () => limits(`GET ${compute}`),
    async makeNetwork(...regions) {
      const made = [
        await cloud.call('compute', `POST ${compute}/global/networks`, { name: 'net', autoCreateSubnetworks: false }),
      ];
      for (const [index, at] of regions.entries()) {
        const body = { name: 'sub', network: 'global/networks/net', ipCidrRange: `10.${index + 1}.0.0/16` };
        made.push(await cloud.call('compute', `POST ${compute}/regions/${at}/subnetworks`, body));
      }
      for (const { status, message } of made) expect(status, message).to.equal(200);
    },
    insertVm(name, more = {}, at = zone) {
      const body = JSON.stringify(vmBody(name, more)).replaceAll(zone, at).replaceAll(region, at.slice(0, -2));
      return cloud.call('compute', `POST ${compute}/zones/${at}/instances`, undefined, { text: body });
    },
  };
  return open;
}

/** A fresh account with these settings and no others, whatever was set before. It may have more projects than a fresh one. */
export function makeFresh({ world }: SimulatedCloud, settings: WorldSettings): void {
  changeWorld(world, 'seasoned');
  changeWorld(world, 'fresh', { 'quota.billing-projects': 50, ...settings });
}

export const ofType = (type: string, at = zone) => ({ machineType: `zones/${at}/machineTypes/${type}` });

export const spot = {
  scheduling: { provisioningModel: 'SPOT', automaticRestart: false, onHostMaintenance: 'TERMINATE' },
};

/** Refused with this code, reason and text. */
export function refused(reply: Reply, code: number, reason: string, text: string): void {
  expect(`${reply.status} ${reply.reason} ${reply.message}`).to.equal(`${code} ${reason} ${text}`);
}

export const passed = (reply: Reply): void => {
  expect(reply.status, reply.message).to.equal(200);
};

/** An operation that was over when the reply left must have gone well. */
export function done(reply: Reply): void {
  passed(reply);
  expect(reply.body['error'], JSON.stringify(reply.body['error'])).to.equal(undefined);
}
