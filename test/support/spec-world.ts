/**
 * The one door from test/spec to the product. Those files are pinned by their hash, so what has to follow the product when it
 * is moved or rebuilt follows here.
 */
export { type Answer, type Flags, useCommand } from './spec-command.js';
export { inMemory, type OpenStore, onFirestore, useOrganizationApi } from './spec-organizations.js';
