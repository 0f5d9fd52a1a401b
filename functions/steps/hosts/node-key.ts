/**
 * Makes the jumpbox's own key for the nodes, and pins the nodes' host keys there. An install that runs on the jumpbox outlives
 * any connection of plinth's functions.
 */
import * as z from 'zod';
import { hostKeysIn } from '../../../shared/ssh-public-key.js';
import { done, of } from '../../engine/step.js';
import { nodes } from '../topology.js';
import { hostSetup } from './host-setup.js';
import { defineHostStep, hostNeeds, reach } from './reach.js';
import { mustRun } from './script.js';

const privatePath = '/root/.ssh/id_ed25519';
const knownHostsPath = '/etc/ssh/ssh_known_hosts';

const needs = { ...hostNeeds(nodes.keys), jumpboxSetup: of(hostSetup, () => ['jumpbox']) } as const;

export const nodeKey = defineHostStep({
  name: 'node-key',
  title: 'Key of the jumpbox',
  needs,
  describe: () => [`SSH key of the jumpbox for the nodes, and their host keys in ${knownHostsPath}`],
  output: z.object({ publicKey: z.string() }),
  async observe(call) {
    const host = await reach(call);
    const publicKey = (await host.read(`${privatePath}.pub`))?.toString().trim();
    if (publicKey === undefined || publicKey === '') return undefined;
    return (await host.read(knownHostsPath))?.toString() === knownHosts(call.needs) ? { publicKey } : undefined;
  },
  async run(call) {
    const host = await reach(call);
    await mustRun(host, 'Making the key of the jumpbox', make, [privatePath, `jumpbox of ${call.bootstrap.projectId}`]);
    await host.upload(knownHostsPath, knownHosts(call.needs), { mode: 0o644 });
    return done;
  },
});

/** Derives the public half from an existing private one, because a crash may have come between the two. */
const make = `set -eu
umask 077
mkdir -p "$(dirname "$1")"
[ -s "$1" ] || { rm -f "$1.new" "$1.new.pub"; ssh-keygen -q -t ed25519 -N '' -C "$2" -f "$1.new"; mv "$1.new" "$1"; rm -f "$1.new.pub"; }
ssh-keygen -y -f "$1" > "$1.pub.new"
mv "$1.pub.new" "$1.pub"`;

interface Known {
  readonly machines: Readonly<Record<string, { readonly internalIp: string }>>;
  readonly hostKeys: Readonly<Record<string, { readonly hostKeys: readonly string[] }>>;
}

/** Lines of known_hosts, by name and address. */
const knownHosts = ({ machines, hostKeys }: Known): string =>
  Object.entries(machines)
    .flatMap(([name, { internalIp }]) =>
      hostKeysIn(hostKeys[name]?.hostKeys ?? []).map((key) => `${name},${internalIp} ${key}`),
    )
    .sort()
    .map((line) => `${line}\n`)
    .join('');
