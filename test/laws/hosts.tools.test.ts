/** The laws of the steps on machines: a death after any exchange, of those that need few machines. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checksumsOf } from '../../local/cloud/storage/contents.js';
import { local } from '../../local/stack/deployment.js';
import { makeBucket } from '../../local/stack/resources.js';
import { uploadText } from '../../shared/bootstrap/upload.js';
import { sha256 as hashOf } from '../../shared/sha256.js';
import { makeExecutable } from '../support/machines.js';
import { hostStepsHold } from './hosts.js';

describe('laws of some steps on machines', function () {
  this.timeout(240_000);
  hostStepsHold({ options: {}, ways: ['after'], isChosen: (id) => /^(host-setup:k0s-1|package)/.test(id) });
});

describe('laws of steps through IAP, of which one takes a big file of the caller’s from Cloud Storage', function () {
  this.timeout(240_000);
  const folder = mkdtempSync(join(tmpdir(), 'plinth-laws-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const file = makeExecutable(join(folder, 'own-plinth'), 17 * 1024 * 1024);
  const content = readFileSync(file);
  const sha256 = hashOf(content);
  hostStepsHold({
    options: { remoteCliBinary: uploadText({ name: 'own-plinth', sha256, bytes: content.length }) },
    ways: ['after'],
    isChosen: (id) => id === 'host-setup:k0s-1' || id === 'plinth-binary',
    parts: {
      machineAccess: 'iap',
      // As the command line has sent it.
      async prepare(cloud) {
        await makeBucket(cloud, local.uploadsBucket);
        const checksums = checksumsOf(content);
        await cloud.placeFile({ bucket: local.uploadsBucket, name: `b-laws/${sha256}`, file, checksums });
      },
    },
  });
});
