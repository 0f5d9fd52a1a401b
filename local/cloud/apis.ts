/** Every API of the simulated cloud. */
import type { ApiDefinition } from './api.js';

export const apiDefinitions: readonly ApiDefinition[] = [];
