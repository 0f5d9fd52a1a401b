/**
 * Reads and writes objects of a datacenter's Kubernetes with its controller's own kubectl. Objects go through standard input,
 * because some are secrets.
 */
import { Problem } from '../../../shared/problems.js';
import type { Host } from '../../remote/remote.js';
import { mustRun } from '../hosts/script.js';
import { k0sPath } from './k0s.js';

/** `words` follow `kubectl get`. Returns undefined if there is no such object. */
export async function getObjects(controller: Host, what: string, words: string): Promise<unknown> {
  const get = `${k0sPath} kubectl get ${words} --output json --ignore-not-found`;
  const found = await mustRun(controller, `Reading ${what}`, get);
  if (found.trim() === '') return undefined;
  try {
    return JSON.parse(found);
  } catch {
    // The parser's own message would quote it.
    throw new Problem(
      'host-failed',
      `Reading ${what} on ${controller.name}: kubectl answered something else than JSON.`,
    );
  }
}

/** Objects that are not there are fine. */
export async function deleteObjects(controller: Host, what: string, objects: readonly object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  const remove = `${k0sPath} kubectl delete --ignore-not-found --filename -`;
  await mustRun(controller, `Deleting ${what}`, remove, [], { stdin: JSON.stringify(list) });
}

/** Creates the objects, or sets the given fields no matter who set them before. Other fields stay. */
export async function applyObjects(controller: Host, what: string, objects: readonly object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  const apply = `${k0sPath} kubectl apply --server-side --force-conflicts --field-manager plinth --filename -`;
  await mustRun(controller, `Writing ${what}`, apply, [], { stdin: JSON.stringify(list) });
}
