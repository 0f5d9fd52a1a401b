import { createMemoryStore } from '../../local/functions/memory-store.js';
import { storeConformance } from './conformance.js';

describe('the memory store', () => {
  storeConformance(async () => createMemoryStore());
});
