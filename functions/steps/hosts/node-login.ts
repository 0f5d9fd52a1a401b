/** Lets the jumpbox log in to a node as root, with the key that it made itself. */
import * as z from 'zod';
import { done } from '../../engine/step.js';
import { nodes } from '../topology.js';
import { hostSetup } from './host-setup.js';
import { nodeKey } from './node-key.js';
import { defineHostStep, hostNeeds, reach } from './reach.js';
import { mustRun, runScript } from './script.js';

export const nodeLogin = defineHostStep({
  name: 'node-login',
  title: 'Login from the jumpbox',
  needs: { ...hostNeeds((_, key) => [key]), hostSetup, nodeKey },
  each: nodes,
  describe: (_, key) => [`the jumpbox logs in to ${key} as root`],
  output: z.object({}),
  async observe(call) {
    const host = await reach(call, call.key);
    const ran = await runScript(host, 'grep -qxF "$1" /root/.ssh/authorized_keys', [call.needs.nodeKey.publicKey]);
    return ran.exitCode === 0 ? {} : undefined;
  },
  async run(call) {
    const host = await reach(call, call.key);
    await mustRun(host, `Letting the jumpbox in to ${call.key}`, add, [call.needs.nodeKey.publicKey]);
    return done;
  },
});

/** The guest agent keeps lines that it did not write. */
const add = `set -eu
umask 077
mkdir -p /root/.ssh
f=/root/.ssh/authorized_keys
{ grep -vxF "$1" "$f" 2>/dev/null || true; printf '%s\\n' "$1"; } > "$f.plinth"
mv "$f.plinth" "$f"`;
