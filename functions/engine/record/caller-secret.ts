/**
 * The secrets that the caller gave: written when a bootstrap begins, removed last. The step is part of each removal plan and
 * of no other plan.
 */
import * as z from 'zod';
import { type AnyStep, defineStep, done } from '../step.js';
import { callerSecretName } from './secret-ids.js';

export const callerSecret = defineStep({
  name: 'caller-secret',
  title: "The caller's secrets",
  lane: 'cloud',
  needs: {},
  describe: () => [],
  output: z.object({}),
  observe: async () => ({}),
  run: async () => done,
  goes: 'undo',
  removes: ({ id }) => [`secret ${id}-${callerSecretName}`, 'files, logs and records in plinth'],
  async undo({ secrets }) {
    await secrets.remove(callerSecretName);
    return done;
  },
}) as unknown as AnyStep;
