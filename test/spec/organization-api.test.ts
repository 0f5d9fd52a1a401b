/** The organization API is what was specified. Pinned: see test/house/spec-is-pinned.test.ts. */
import { inMemory } from '../support/spec-world.js';
import { tellTranscripts } from './tell-transcripts.js';

describe('the organization API, as specified', () => {
  tellTranscripts(inMemory);
});
