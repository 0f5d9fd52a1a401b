/** Organization Policy v2: what the policies of a project, folder or organization come to. Tests and worlds set them. */
import { type ApiDefinition, type CloudCall, GoogleError, type Handler, type World } from '../kernel/api.js';
import { badRequest, notSimulated } from '../kernel/errors.js';
import { isConstraint } from '../worlds/constraints.js';
import { effectiveOn, isConditional, rulesOf } from './policies.js';

/** How replies name a project, folder or organization, and the name by which its policies are kept. */
function placeIn(world: World, place: string): { readonly shown: string; readonly kept: string } {
  if (place.startsWith('projects/')) {
    const { projectId, projectNumber } = world.project(place.slice('projects/'.length));
    return { shown: `projects/${projectNumber}`, kept: `projects/${projectId}` };
  }
  if (world.table('containers')[place] === undefined) {
    throw new GoogleError(404, 'NOT_FOUND', 'Requested entity was not found.');
  }
  return { shown: place, kept: place };
}

const getEffective: Handler = ({ params: { name = '' } }, world) => {
  const [, place = '', constraint = ''] = /^([^/]+\/[^/]+)\/policies\/([^/]+)$/.exec(name) ?? [];
  const { shown, kept } = placeIn(world, place);
  if (constraint.startsWith('custom.')) throw notSimulated('custom constraints');
  if (!isConstraint(constraint)) {
    throw badRequest('Request contains an invalid argument.', 'name', `Unknown constraint: constraints/${constraint}`);
  }
  if (isConditional(world, kept, constraint)) throw notSimulated('conditions of organization policies');
  return {
    name: `${shown}/policies/${constraint}`,
    spec: { rules: rulesOf(effectiveOn(world, kept, constraint)) },
  };
};

const methods = ['projects', 'folders', 'organizations'].map((kind) => `orgpolicy.${kind}.policies.getEffectivePolicy`);

/** The permission is judged on the project, folder or organization. */
const onPlace = ({ resource }: CloudCall) => [
  { permission: 'orgpolicy.policy.get', resource: resource.split('/').slice(0, 2).join('/') },
];

export const organizationPolicy: ApiDefinition<'orgpolicy'> = {
  api: 'orgpolicy.v2',
  handlers: Object.fromEntries(methods.map((method) => [method, getEffective])),
  access: Object.fromEntries(methods.map((method) => [method, onPlace])),
};
