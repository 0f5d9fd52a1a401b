/** Repositories of Artifact Registry and their images as records. */
import type { JsonObject, World } from '../kernel/api.js';

export const artifactService = 'artifactregistry.googleapis.com';

interface Content {
  readonly type: string;
  /** Base64, because the state is JSON. The images here have some kilobytes. */
  readonly data: string;
}

/** Repositories by `projects/<id>/locations/<l>/repositories/<r>`. */
export const repositories = (world: World): Record<string, JsonObject> => world.table('artifactregistry.repositories');
/** Blobs and manifests by `<repository>@<digest>`. All images of a repository share them. */
export const contents = (world: World): Record<string, Content> => world.table<Content>('artifactregistry.contents');
/** Digests of manifests, by `<repository>/<image>:<tag>` and `<repository>/<image>@<digest>`. */
export const names = (world: World): Record<string, { readonly digest: string }> =>
  world.table('artifactregistry.names');

/** Removes the images of a repository. */
export function removeImages(path: string, world: World): void {
  for (const table of [contents(world), names(world)]) {
    for (const key of Object.keys(table)) {
      if (key.startsWith(`${path}@`) || key.startsWith(`${path}/`)) delete table[key];
    }
  }
}
