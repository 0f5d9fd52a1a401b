/** Service Usage: which APIs a project has enabled. Enabling is atomic, and takes a while to propagate. */
import {
  type ApiDefinition,
  type CloudCall,
  type Effect,
  GoogleError,
  type Handler,
  type JsonObject,
  type ProjectRecord,
  type World,
} from '../kernel/api.js';
import { badRequest, errorInfo, preconditionFailed } from '../kernel/errors.js';
import { flagOf, numberOf, textOf, textsOf } from '../kernel/json-fields.js';
import { beginOperation, endOperation, findOperation, typed } from '../kernel/long-running.js';
import { pageReply } from '../kernel/pages.js';
import { lookUpProject, titleOf } from '../kernel/projects.js';
import { delayOf } from '../worlds/settings.js';

const atMost = 20;
const readAtMost = 30;

/** Services that depend on the key. Disabling it disables them too, or is refused. */
const dependents: Readonly<Record<string, readonly string[]>> = {
  'compute.googleapis.com': ['container.googleapis.com'],
};

function projectIn(call: CloudCall, world: World): ProjectRecord {
  const [, id = ''] = (call.params['name'] ?? call.params['parent'] ?? '').split('/');
  return world.project(id);
}

const isOn = ({ services }: ProjectRecord, service: string): boolean => services[service] !== undefined;

const shown = (world: World, project: ProjectRecord, service: string): JsonObject => ({
  name: `projects/${project.projectNumber}/services/${service}`,
  config: {
    name: service,
    title: titleOf(world, service),
    documentation: {},
    quota: {},
    authentication: {},
    usage: { requirements: ['serviceusage.googleapis.com/tos/cloud'] },
    apis: [],
    endpoints: [],
    monitoredResources: [],
    monitoring: {},
  },
  state: isOn(project, service) ? 'ENABLED' : 'DISABLED',
  parent: `projects/${project.projectNumber}`,
});

const unknown = (services: readonly string[]): GoogleError =>
  new GoogleError(403, 'PERMISSION_DENIED', `Not found or permission denied for service(s): ${services.join(', ')}.`, {
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.PreconditionFailure',
        violations: services.map((subject) => ({
          type: 'googleapis.com',
          subject: `?error_code=220002&services=${subject}`,
        })),
      },
      errorInfo('SERVICE_CONFIG_NOT_FOUND_OR_PERMISSION_DENIED', 'serviceusage.googleapis.com', {
        services: services.join(','),
      }),
    ],
  });

function checkBilling(world: World, project: ProjectRecord, services: readonly string[]): void {
  const paid = services.filter((service) => world.services[service]?.isBilled === true && !isOn(project, service));
  const account = world.table<{ open?: boolean }>('billing.accounts')[project.billingAccountName ?? ''];
  if (paid.length === 0 || account?.open === true) return;
  const message = `Billing account for project '${project.projectNumber}' is not found. Billing must be enabled for activation of service(s) '${paid.join(',')}' to proceed.`;
  throw preconditionFailed(
    message,
    { type: 'googleapis.com/billing-enabled', subject: project.projectNumber, description: message },
    [errorInfo('UREQ_PROJECT_BILLING_NOT_FOUND', 'serviceusage.googleapis.com', { services: paid.join(',') })],
  );
}

/** All or nothing: if one service cannot be enabled, none is. */
function enableAll(call: CloudCall, world: World, services: readonly string[], answer: string): JsonObject {
  const project = projectIn(call, world);
  const strangers = services.filter((service) => world.services[service] === undefined);
  if (strangers.length > 0) throw unknown(strangers);
  checkBilling(world, project, services);
  const metadata = typed('google.api.serviceusage.v1.OperationMetadata', {
    resourceNames: services.map((service) => `projects/${project.projectNumber}/services/${service}`),
  });
  if (services.every((service) => isOn(project, service))) {
    return { name: 'operations/noop.DONE_OPERATION', done: true, response: reply(world, project, services, answer) };
  }
  const name = `operations/acat.p2-${project.projectNumber}-${world.id()}`;
  const operation = beginOperation(world, name, metadata);
  const at = world.now() + world.scaled(delayOf(world, 'service')) * (0.7 + 0.6 * world.random());
  // The operation ends first, while the change is still propagating.
  world.schedule(delayOf(world, 'serviceOperation'), 'services.enabled', {
    name,
    project: project.projectId,
    services: [...services],
    answer,
    at,
  });
  return operation;
}

const reply = (world: World, project: ProjectRecord, services: readonly string[], answer: string): JsonObject => {
  const list = services.map((service) => shown(world, project, service));
  return typed(
    `google.api.serviceusage.v1.${answer}`,
    answer.startsWith('Batch') ? { services: list } : { service: list[0] ?? {} },
  );
};

const enabled: Effect = (args, world) => {
  const project = lookUpProject(world, textOf(args['project']) ?? '');
  const name = textOf(args['name']) ?? '';
  if (project === undefined || project.state !== 'ACTIVE') {
    endOperation(world, name, { error: { code: 9, message: 'The project is not active.' } });
    return;
  }
  const services = textsOf(args['services']);
  for (const service of services) project.services[service] ??= numberOf(args['at']) ?? world.now();
  endOperation(world, name, { response: reply(world, project, services, textOf(args['answer']) ?? '') });
};

const batchEnable: Handler = (call, world) => {
  const services = [...new Set(textsOf(call.body['serviceIds']))];
  if (services.length === 0)
    throw badRequest('Request contains an invalid argument.', 'service_ids', 'At least one service must be named.');
  if (services.length > atMost) {
    throw badRequest(
      `A batch request can enable at most ${atMost} services; ${services.length} were named.`,
      'service_ids',
    );
  }
  return enableAll(call, world, services, 'BatchEnableServicesResponse');
};

const serviceIn = (name: string): string => name.split('/').at(-1) ?? '';

const enable: Handler = (call, world) =>
  enableAll(call, world, [serviceIn(call.params['name'] ?? '')], 'EnableServiceResponse');

const get: Handler = (call, world) => {
  const service = serviceIn(call.params['name'] ?? '');
  if (world.services[service] === undefined) throw unknown([service]);
  return shown(world, projectIn(call, world), service);
};

const batchGet: Handler = (call, world) => {
  const project = projectIn(call, world);
  const names = call.lists['names'] ?? [];
  if (names.length === 0 || names.length > readAtMost) {
    throw badRequest('Request contains an invalid argument.', 'names', `1 to ${readAtMost} names must be given.`);
  }
  const services = names.map((name) => {
    const [, of, service] = /^projects\/([^/]+)\/services\/([^/]+)$/.exec(name) ?? [];
    if (service === undefined || (of !== project.projectId && of !== project.projectNumber)) {
      throw badRequest(
        'Request contains an invalid argument.',
        'names',
        `${name} is not the name of a service of the parent.`,
      );
    }
    return service;
  });
  const strangers = services.filter((service) => world.services[service] === undefined);
  if (strangers.length > 0) throw unknown(strangers);
  return { services: services.map((service) => shown(world, project, service)) };
};

const list: Handler = (call, world) => {
  const project = projectIn(call, world);
  const { filter = '', pageSize } = call.params;
  const state = /^\s*(?:state:(ENABLED|DISABLED))?\s*$/.exec(filter);
  if (state === null)
    throw badRequest(
      'Request contains an invalid argument.',
      'filter',
      'Only state:ENABLED and state:DISABLED are known.',
    );
  const size = numberOf(pageSize) ?? 50;
  if (size > 200) throw badRequest('Request contains an invalid argument.', 'page_size', 'At most 200.');
  const found = Object.keys(world.services).filter(
    (service) => state[1] === undefined || isOn(project, service) === (state[1] === 'ENABLED'),
  );
  return pageReply(
    call,
    'services',
    found.map((service) => [service, shown(world, project, service)]),
    size,
  );
};

const disable: Handler = (call, world) => {
  const project = projectIn(call, world);
  const service = serviceIn(call.params['name'] ?? '');
  if (world.services[service] === undefined) throw unknown([service]);
  const held = (dependents[service] ?? []).filter((other) => isOn(project, other));
  if (held.length > 0 && flagOf(call.body['disableDependentServices']) !== true) {
    throw preconditionFailed(
      `The service ${service} is depended on by the following active service(s): ${held.join(',')}; Please specify disableDependentServices=true if you want to proceed with disabling all services.`,
      {
        type: 'googleapis.com',
        subject: service,
        description: `${titleOf(world, service)} is needed by ${held.join(', ')}.`,
      },
    );
  }
  for (const off of [service, ...held]) delete project.services[off];
  const response = typed('google.api.serviceusage.v1.DisableServiceResponse', {
    service: shown(world, project, service),
  });
  return { name: `operations/acat.p17-${project.projectNumber}-${world.id()}`, done: true, response };
};

const on = (permission: string) => (call: CloudCall) => [
  { permission, resource: `projects/${(call.params['name'] ?? call.params['parent'] ?? '').split('/')[1] ?? ''}` },
];

export const serviceUsage: ApiDefinition<'serviceusage'> = {
  api: 'serviceusage.v1',
  handlers: {
    'serviceusage.services.batchEnable': batchEnable,
    'serviceusage.services.enable': enable,
    'serviceusage.services.disable': disable,
    'serviceusage.services.get': get,
    'serviceusage.services.batchGet': batchGet,
    'serviceusage.services.list': list,
    'serviceusage.operations.get': (call, world) => findOperation(world, call.params['name'] ?? ''),
  },
  effects: { 'services.enabled': enabled },
  access: {
    'serviceusage.services.batchEnable': on('serviceusage.services.enable'),
    'serviceusage.services.enable': on('serviceusage.services.enable'),
    'serviceusage.services.disable': on('serviceusage.services.disable'),
    'serviceusage.services.get': on('serviceusage.services.get'),
    'serviceusage.services.batchGet': on('serviceusage.services.get'),
    'serviceusage.services.list': on('serviceusage.services.list'),
    'serviceusage.operations.get': () => [],
  },
};
