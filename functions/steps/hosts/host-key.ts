/**
 * Reads the host keys that a VM published in its guest attributes. Where an organization policy lets nobody read those, it
 * reads them from the serial console. plinth trusts no others.
 */
import * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import { hostKeysIn } from '../../../shared/ssh-public-key.js';
import { again, done, type Outcome, recheck, type StepCall } from '../../engine/step.js';
import { defineProjectStep } from '../cloud/settling.js';
import { vm } from '../cloud/vm.js';
import { vms } from '../topology.js';

type Call = StepCall<{ readonly vm: typeof vm }, typeof vms>;

export const hostKey = defineProjectStep({
  name: 'host-key',
  title: 'Host key',
  lane: 'cloud',
  needs: { vm },
  each: vms,
  describe: () => [],
  /** Each is `<type> <base64>`. What is no host key is left out. */
  output: z.object({ hostKeys: z.array(z.string()).min(1).transform(hostKeysIn) }),
  async observe(call) {
    const published = await publishedKeys(call);
    const hostKeys = published instanceof Problem ? await keptKeys(call) : published;
    return hostKeys.length === 0 ? undefined : { hostKeys };
  },
  async run(call) {
    const found = await instanceOf(call);
    if (found?.status !== 'RUNNING') {
      const is = `The VM ${call.key} is ${found?.status?.toLowerCase() ?? 'gone'}.`;
      return recheck(['vm'], new Problem('cloud-conflict', is, { advice: whatTakesIt }));
    }
    const published = await publishedKeys(call);
    return published instanceof Problem
      ? lookAtConsole(call, found.id ?? '', published)
      : again(2, 'the VM has not published its host key yet');
  },
  goes: 'project',
});

const whatTakesIt =
  'Find out what stops or deletes it: Compute Engine lists the operations of the VM. Then run the same command again.';

const instanceOf = ({ context, bootstrap: { projectId, options }, key }: Call) =>
  context.cloud.compute.instance(projectId, options.zone, key);

const isPolicy = (error: unknown): error is Problem => error instanceof Problem && error.code === 'cloud-policy';

/** The refusal of a policy is an answer, too. */
async function publishedKeys({ context, bootstrap: { projectId, options }, key }: Call): Promise<string[] | Problem> {
  try {
    return await context.cloud.compute.publishedHostKeys(projectId, options.zone, key);
  } catch (error) {
    if (isPolicy(error)) return error;
    throw error;
  }
}

/** A VM prints its keys at its first boot alone. So they are kept, for the VM with this id. */
const keptFile = ({ key }: Call): string => `console-keys-${key}`;
const Kept = z.object({ vm: z.string(), hostKeys: z.array(z.string()).min(1).transform(hostKeysIn) });

async function keptKeys(call: Call): Promise<string[]> {
  const text = await call.files.read(keptFile(call));
  if (text === undefined) return [];
  const { vm: id, hostKeys } = Kept.parse(JSON.parse(text));
  return (await instanceOf(call))?.id === id ? hostKeys : [];
}

async function lookAtConsole(call: Call, id: string, refusal: Problem): Promise<Outcome> {
  const { context, bootstrap, key } = call;
  try {
    const hostKeys = await context.cloud.compute.consoleHostKeys(bootstrap.projectId, bootstrap.options.zone, key);
    if (hostKeys.length === 0) return again(2, 'the VM has not printed its host key on the serial console yet');
    await call.files.write(keptFile(call), JSON.stringify({ vm: id, hostKeys }));
    return done;
  } catch (error) {
    if (!isPolicy(error)) throw error;
    throw new Problem('cloud-policy', `${refusal.detail} ${error.detail}`, {
      advice:
        `plinth needs one of the two to learn the host key of ${key}, and logs in nowhere without it. ${error.advice ?? ''}`.trim(),
      ...(error.members === undefined ? {} : { members: error.members }),
      cause: error,
    });
  }
}
