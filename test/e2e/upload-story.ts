/** What stories of uploads look at: what a command says of them, what Cloud Storage holds, and what a file is. */
import { readFileSync } from 'node:fs';
import { local } from '../../local/stack/deployment.js';
import { sha256 } from '../../shared/sha256.js';
import type { PlinthHere } from '../support/plinth-here.js';
import type { Scene } from '../support/scene.js';

type Event = Readonly<Record<string, unknown>>;

/** Large enough to go by Cloud Storage where only IAP leads to the jumpbox. */
export const bigBytes = 20 * 1024 * 1024;

export const uploadsIn = (events: readonly Event[]) => events.filter(({ type }) => type === 'upload');
export const sha256Of = (path: string): string => sha256(readFileSync(path));
export const storedUploads = (scene: Scene): string[] =>
  Object.keys(scene.cloud.world.table('storage.objects')).filter((key) => key.startsWith(`${local.uploadsBucket}/`));

/** Until the command has shown this much. */
export const shown = (run: PlinthHere, pattern: RegExp) =>
  Promise.race([new Promise<void>((resolve) => run.onText(() => pattern.test(run.stdout()) && resolve())), run.ended]);
