/**
 * Artifact Registry's Docker endpoint (`<region>-docker.pkg.dev`). Callers push and pull images with access tokens under the
 * policies of the repositories. One port serves all regions.
 */
import type { Gate, Refusal } from '../../registry/gate.js';
import type { Images } from '../../registry/images.js';
import { type Caller, GoogleError, type World } from '../kernel/api.js';
import { artifactService, contents, names, repositories } from './records.js';

/** Images are named `<project>/<repository>/<image>`. At Google the host names the region. Here the region does not matter. */
function placeOf(world: World, image: string): { project: string; id: string; path: string | undefined; name: string } {
  const [project = '', id = '', ...rest] = image.split('/');
  const path = Object.entries(repositories(world)).find(
    ([key, { format }]) => key.startsWith(`projects/${project}/`) && key.endsWith(`/${id}`) && format === 'DOCKER',
  )?.[0];
  return { project, id, path, name: rest.join('/') };
}

const permissions = {
  pull: 'artifactregistry.repositories.downloadArtifacts',
  push: 'artifactregistry.repositories.uploadArtifacts',
} as const;

export function imageGate(world: World, callerOf: (token: string) => Caller | undefined): Gate<Caller> {
  const denied = (permission: string, resource: string): Refusal => ({
    status: 403,
    code: 'DENIED',
    message: `Permission "${permission}" denied on resource "${resource}" (or it may not exist)`,
  });
  return {
    tokenPath: '/v2/token',
    login: (user, password) => (user === 'oauth2accesstoken' ? callerOf(password) : undefined),
    bearer: callerOf,
    tokenFor: (_user, password) => password,
    may(caller, image, action) {
      world.runDue();
      const { project, id, path, name } = placeOf(world, image);
      if (name === '') return { status: 404, code: 'NAME_UNKNOWN', message: `${image} names no image of a repository` };
      const resource = path ?? `projects/${project}`;
      try {
        world.project(project, { service: artifactService, billing: action === 'push' });
      } catch (error) {
        if (!(error instanceof GoogleError)) throw error;
        return { status: 403, code: 'DENIED', message: error.message };
      }
      if (!world.policies.allows(caller, permissions[action], resource)) return denied(permissions[action], resource);
      if (path !== undefined) return undefined;
      return { status: 404, code: 'NAME_UNKNOWN', message: `Repository "${id}" not found` };
    },
  };
}

export function imagesOf(world: World): Images {
  const bytesAt = (key: string): Buffer | undefined => {
    const found = contents(world)[key];
    return found === undefined ? undefined : Buffer.from(found.data, 'base64');
  };
  const put = (key: string, type: string, bytes: Buffer): void => {
    contents(world)[key] = { type, data: bytes.toString('base64') };
  };
  const blobType = 'application/octet-stream';
  return {
    manifest(image, reference) {
      const { path = '', name } = placeOf(world, image);
      const separator = reference.includes(':') ? '@' : ':';
      const digest = names(world)[`${path}/${name}${separator}${reference}`]?.digest;
      const found = digest === undefined ? undefined : contents(world)[`${path}@${digest}`];
      if (digest === undefined || found === undefined) return undefined;
      return { digest, type: found.type, bytes: Buffer.from(found.data, 'base64') };
    },
    blob: (image, digest) => bytesAt(`${placeOf(world, image).path}@${digest}`),
    tags(image) {
      const { path = '', name } = placeOf(world, image);
      const stem = `${path}/${name}`;
      const known = Object.keys(names(world)).filter((key) => key.startsWith(`${stem}:`) || key.startsWith(`${stem}@`));
      if (known.length === 0) return undefined;
      return known.flatMap((key) => (key.startsWith(`${stem}:`) ? [key.slice(stem.length + 1)] : [])).sort();
    },
    putBlob: (image, digest, bytes) => put(`${placeOf(world, image).path}@${digest}`, blobType, bytes),
    putManifest(image, { digest, type, bytes }, tag) {
      const { path = '', name } = placeOf(world, image);
      put(`${path}@${digest}`, type, bytes);
      names(world)[`${path}/${name}@${digest}`] = { digest };
      if (tag !== undefined) names(world)[`${path}/${name}:${tag}`] = { digest };
    },
  };
}
