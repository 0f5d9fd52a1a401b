/**
 * Makes the bootstrap's own SSH key pair. Its public half goes to every machine, its private half never leaves Secret Manager
 * except into the memory of a function.
 */
import * as z from 'zod';
import { openSshPair } from '../../../shared/openssh.js';
import { defineStep, done, type StepSecrets } from '../../engine/step.js';

/** Name of the secret within the bootstrap. JSON with both halves in OpenSSH form. */
const machineKeySecret = 'machine-key';
const MachineKey = z.object({ privateKey: z.string(), publicKey: z.string() });

export const machineKey = defineStep({
  name: 'machine-key',
  title: 'SSH key of the bootstrap',
  lane: 'cloud',
  needs: {},
  describe: () => ['Ed25519 key pair of the bootstrap, its private half in Secret Manager'],
  output: z.object({ publicKey: z.string(), secretVersion: z.string() }),
  async observe({ secrets }) {
    const secretVersion = await secrets.find(machineKeySecret);
    if (secretVersion === undefined) return undefined;
    const { publicKey } = await readMachineKey(secrets, secretVersion);
    return { publicKey, secretVersion };
  },
  async run({ context, bootstrap, secrets }) {
    const { privateKey } = await context.keys.make('ed25519');
    const pair = openSshPair(privateKey, `plinth-${bootstrap.id}`);
    await secrets.write(machineKeySecret, JSON.stringify(MachineKey.parse(pair)));
    return done;
  },
  goes: 'undo',
  removes: ({ id }) => [`secret ${id}-${machineKeySecret}`],
  async undo({ secrets }) {
    await secrets.remove(machineKeySecret);
    return done;
  },
});

export const readMachineKey = async (secrets: StepSecrets, version: string): Promise<z.infer<typeof MachineKey>> =>
  MachineKey.parse(await secrets.readJson(machineKeySecret, version));
