/** terraform/settings.json: every setting of the functions by name, so that terraform refuses one that there is not. */
import { settings } from '../../functions/config.js';

/** Those that stand for Google elsewhere have no place in a deployment. */
const elsewhere = /_EMULATOR_HOST$/;

export const terraformSettings = (): string =>
  `${JSON.stringify(
    Object.fromEntries(
      Object.entries(settings)
        .filter(([name]) => !elsewhere.test(name))
        .map(([name, { help }]) => [name, help]),
    ),
    null,
    2,
  )}\n`;
