/** Checks the static setup of a machine over SSH. The start-up script does it, and this step repeats it if it is missing. */
import * as z from 'zod';
import { done } from '../../engine/step.js';
import { hostSetupCheckOf, startupScriptOf } from '../cloud/vm-metadata.js';
import { vmSpec, vms } from '../topology.js';
import { defineHostStep, hostNeeds, reach } from './reach.js';
import { mustRun, runScript } from './script.js';

export const hostSetup = defineHostStep({
  name: 'host-setup',
  title: 'Host',
  needs: hostNeeds((_, key) => [key]),
  each: vms,
  describe: (_, key) => [`${key} answers SSH with the host key that it published; kernel settings, logins`],
  output: z.object({ address: z.string() }),
  async observe(call) {
    const host = await reach(call, call.key);
    const check = hostSetupCheckOf(vmSpec(call.bootstrap.options, call.key).role);
    const ran = await runScript(host, check);
    return ran.exitCode === 0 ? { address: call.needs.machines[call.key]?.internalIp ?? '' } : undefined;
  },
  async run(call) {
    const host = await reach(call, call.key);
    const script = startupScriptOf(vmSpec(call.bootstrap.options, call.key).role);
    await mustRun(host, `Setting up ${call.key}`, script);
    return done;
  },
});
