/** A simulated cloud whose tunnel leads to programs of the test, and the product's client of it. */
import type { Duplex } from 'node:stream';
import { openTunnel, type TunnelOptions } from '../../functions/remote/iap/tunnel.js';
import { createPair } from '../../local/machines/network/streams.js';
import { furnish, zone } from '../local-cloud/furnished.js';
import { owner, project, type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';

export interface IapWorld {
  readonly cloud: ReadyCloud;
  /** The VM's ends of the connections, in order. */
  readonly vmEnds: Duplex[];
  /** The tunnel's ends of them. */
  readonly nearEnds: Duplex[];
  /** Opens a tunnel to the jumpbox, as the owner. `through` is the port of a relay. */
  open(options?: Partial<TunnelOptions> & { readonly through?: number; readonly instance?: string }): Promise<Duplex>;
  close(): Promise<void>;
}

export async function iapWorld(): Promise<IapWorld> {
  const cloud = await readyCloud();
  await furnish(cloud);
  const enabled = await cloud.call('serviceusage', 'POST /v1/projects/P/services/iap.googleapis.com:enable', {});
  if (enabled.status !== 200) throw new Error(enabled.message);
  const vmEnds: Duplex[] = [];
  const nearEnds: Duplex[] = [];
  cloud.tunnel.leadTo(async (_path, port) => {
    if (port !== 22) return { kind: 'refused' };
    const [near, far] = createPair();
    nearEnds.push(near);
    vmEnds.push(far);
    return { kind: 'open', stream: near };
  });
  return {
    cloud,
    vmEnds,
    nearEnds,
    open({ through = cloud.tunnel.port, instance = 'jumpbox', ...options } = {}) {
      return openTunnel(
        { project, zone, instance, port: 22 },
        {
          name: 'jumpbox',
          url: `ws://127.0.0.1:${through}/v4`,
          token: async () => cloud.identity.accessToken(owner),
          timeoutSeconds: 5,
          ...options,
        },
      );
    },
    close: () => cloud.close(),
  };
}
