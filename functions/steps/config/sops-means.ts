/** The time and randomness that encryption of a secrets file needs. */
import type { SopsMeans } from '../../../shared/install-config/sops-cipher.js';
import type { StepCall } from '../../engine/step.js';

export const sopsMeans = ({ clock, random }: Pick<StepCall['context'], 'clock' | 'random'>): SopsMeans => ({
  now: clock.now(),
  random: (size) => new Uint8Array(random.bytes(size)),
});
