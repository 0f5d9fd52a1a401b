/** Where a resource lies: what grants on it are inherited from. */
import type { ProjectRecord, World } from '../kernel/api.js';
import { projectTable, withProjectId } from '../kernel/projects.js';

/** The resource, its ancestors in the path, and the folders and organization above its project. */
export function lineage(world: World, resource: string): string[] {
  const names: string[] = [];
  const parts = withProjectId(world, resource).split('/');
  for (let length = parts.length; length >= 2; length -= 1) names.push(parts.slice(0, length).join('/'));
  const top = names.at(-1) ?? '';
  const project: ProjectRecord | undefined = top.startsWith('projects/')
    ? projectTable(world)[parts[1] ?? '']
    : undefined;
  const containers = world.table<{ parent?: string }>('containers');
  for (
    let parent = project?.parent ?? containers[top]?.parent;
    parent !== undefined;
    parent = containers[parent]?.parent
  ) {
    names.push(parent);
  }
  return names;
}
