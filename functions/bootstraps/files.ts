/** Files of a bootstrap that people send and fetch: the upload of a big one, and the events that tell who fetched what. */
import { fileOptions } from '../../shared/bootstrap/options.js';
import { readUpload } from '../../shared/bootstrap/upload.js';
import type { UploadWay } from '../../shared/bootstrap/upload-way.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { machineAccessOf, optionsOf, type StoredBootstrap } from '../engine/record/documents.js';
import { eventWrites } from '../engine/record/transition.js';
import { updateBootstrap } from '../engine/record/update.js';
import { uploadPlace } from '../steps/hosts/upload-place.js';
import type { Write } from '../store/store.js';

/** Throws `not-found` for a file that the bootstrap doesn't name, and `conflict` if it is not under way. */
export async function beginUpload(
  { cloud, config }: Pick<Context, 'cloud' | 'config'>,
  { id, data }: StoredBootstrap,
  sha256: string,
): Promise<UploadWay> {
  const options = optionsOf(data);
  const named = fileOptions.flatMap((option) => options[option] ?? []).flatMap((text) => readUpload(text) ?? []);
  const upload = named.find((each) => each.sha256 === sha256);
  if (upload === undefined) {
    throw new Problem('not-found', `${data.name} names no file with the SHA-256 ${sha256}.`, {
      advice: 'Run the command again with the flag that names the file.',
    });
  }
  if (data.state !== 'running') {
    throw new Problem('conflict', `${data.name} is ${data.state}, so nothing waits for ${upload.name}.`, {
      advice: 'Run the same command again: it goes on, and sends the file when a step waits for it.',
    });
  }
  const place = uploadPlace(config, { id, machineAccess: machineAccessOf(data) }, upload);
  if (place === undefined) return { by: 'ssh' };
  // Of another size, too: the step refuses and deletes it.
  if ((await cloud.uploads.size(place)) !== undefined) return { by: 'storage' };
  return { by: 'storage', session: await cloud.uploads.begin(place, upload.bytes) };
}

/** The event is stored before this returns. */
export async function recordAction(context: Context, id: string, actor: string, action: string): Promise<void> {
  await updateBootstrap(context, id, async ({ data, version }, at) => {
    const events = [{ event: { schema: 1, type: 'action', at, actor, action } as const }];
    const writes: Write[] = [
      { kind: 'update', collection: collections.bootstraps, id, version, data: { events: data.events + 1 } },
      ...eventWrites(id, data, events),
    ];
    return { transition: { record: data, ready: [], events }, writes };
  });
}
