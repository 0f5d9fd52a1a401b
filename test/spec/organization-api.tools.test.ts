/** The organization API is what was specified, on Firestore too. Pinned: see test/house/spec-is-pinned.test.ts. */
import { onFirestore } from '../support/spec-world.js';
import { tellTranscripts } from './tell-transcripts.js';

describe('the organization API, as specified, on Firestore', function () {
  this.timeout(60_000);
  tellTranscripts(onFirestore);
});
