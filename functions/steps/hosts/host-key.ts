/** Reads the host keys that a VM published in its guest attributes. plinth trusts no others. */
import * as z from 'zod';
import { again, recheck } from '../../engine/step.js';
import { defineProjectStep } from '../cloud/settling.js';
import { vm } from '../cloud/vm.js';
import { vms } from '../topology.js';

export const hostKey = defineProjectStep({
  name: 'host-key',
  title: 'Host key',
  lane: 'cloud',
  needs: { vm },
  each: vms,
  describe: () => [],
  /** Each is `<type> <base64>`. */
  output: z.object({ hostKeys: z.array(z.string()).min(1) }),
  async observe({ context, bootstrap, key }) {
    const { projectId, options } = bootstrap;
    const published = await context.cloud.compute.guestAttributes(projectId, options.zone, key, 'hostkeys/');
    const hostKeys = (published ?? []).map((item) => `${item.key} ${item.value}`);
    return hostKeys.length === 0 ? undefined : { hostKeys };
  },
  async run({ context, bootstrap, key }) {
    const { projectId, options } = bootstrap;
    const found = await context.cloud.compute.instance(projectId, options.zone, key);
    return found?.status === 'RUNNING'
      ? again(2, 'the VM has not published its host key yet')
      : recheck(['vm'], `The VM ${key} is ${found?.status?.toLowerCase() ?? 'gone'}`);
  },
  goes: 'project',
});
