/** Makes the bootstrap's age identity, which opens its secrets file. */
import * as z from 'zod';
import { recipientOf } from '../../../shared/install-config/age-identity.js';
import { defineStep, done } from '../../engine/step.js';

/** Name of the secret within the bootstrap. */
export const ageIdentitySecret = 'age-identity';

export const ageIdentity = defineStep({
  name: 'age-identity',
  title: 'Age identity',
  lane: 'cloud',
  needs: {},
  describe: () => ['age identity, kept in Secret Manager'],
  output: z.object({ recipient: z.string(), secretVersion: z.string() }),
  async observe({ secrets }) {
    const secretVersion = await secrets.find(ageIdentitySecret);
    if (secretVersion === undefined) return undefined;
    const identity = await secrets.read(ageIdentitySecret, secretVersion);
    return { recipient: await recipientOf(identity, `The secret ${ageIdentitySecret}`), secretVersion };
  },
  async run({ secrets }) {
    const { generateX25519Identity } = await import('age-encryption');
    await secrets.write(ageIdentitySecret, await generateX25519Identity());
    return done;
  },
  goes: 'undo',
  removes: ({ id }) => [`secret ${id}-${ageIdentitySecret}`],
  async undo({ secrets }) {
    await secrets.remove(ageIdentitySecret);
    return done;
  },
  summary: ({ recipient }) => `secrets are encrypted for ${recipient}`,
});
