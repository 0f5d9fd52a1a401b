/** The throw-away project: how it comes, whose it is, who pays. */
import { Problem } from '../../../shared/problems.js';
import { type Bench, type Check, differs, held, heldIf, type Tree, unknown } from '../check.js';
import { Untried } from '../untried.js';

const create = ({ ask, project, parent, labels }: Bench) =>
  ask('cloudresourcemanager', 'POST /v3/projects', {
    projectId: project,
    displayName: 'First contact',
    parent,
    labels,
  });

interface Binding {
  readonly role: string;
  readonly members: readonly string[];
}

export const projectChecks: readonly Check[] = [
  {
    id: 'projects.absent',
    believes: 'A project that is not there answers 403, as one of somebody else does.',
    source: 'documented',
    async run({ ask, project }) {
      const { status, reasons } = await ask('cloudresourcemanager', `GET /v3/projects/${project}`);
      return heldIf(status === 403, `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'billing.may-link',
    believes: 'testIamPermissions of a billing account tells whether projects may be linked to it.',
    source: 'documented',
    async run({ cloud, billingAccount }) {
      const may = await cloud.billing.mayLink(billingAccount);
      if (!may) throw new Untried('you may not link projects to this billing account');
      return held('you may link projects');
    },
  },
  {
    id: 'projects.create',
    believes: 'A project is made within two minutes by an operation that is not done in the first reply.',
    source: 'documented',
    makes: 'the throw-away project',
    async run({ cloud, project, parent, labels, until, facts }) {
      // It may stand from here on, even if no answer comes.
      facts.set('project', project);
      const sure = (error: unknown): never => {
        if (error instanceof Problem && error.code !== 'cloud-unavailable') facts.delete('project');
        throw error;
      };
      const wanted = { projectId: project, displayName: 'First contact', parent, labels };
      const { name, done, failure } = await cloud.projects.create(wanted).catch(sure);
      if (failure !== undefined) sure(failure);
      const over = await until(120, async () => {
        const operation = await cloud.projects.operation(name);
        if (operation.failure !== undefined) sure(operation.failure);
        return operation.done ? true : undefined;
      });
      const found = await cloud.projects.get(project);
      if (over === undefined || found === undefined) return differs('it was not there after two minutes');
      facts.set('number', found.name.replace('projects/', ''));
      return heldIf(!done, `made after ${over.seconds} s; the first reply was ${done ? 'done' : 'not done'}`);
    },
  },
  {
    id: 'projects.owner',
    believes: 'Who makes a project becomes its owner at once, and nobody else does.',
    source: 'documented',
    needs: ['projects.create'],
    async run({ ask, project, facts }) {
      const { body } = await ask('cloudresourcemanager', `POST /v3/projects/${project}:getIamPolicy`, {
        options: { requestedPolicyVersion: 3 },
      });
      facts.set('first-etag', String(body['etag'] ?? ''));
      const owners = ((body['bindings'] ?? []) as Binding[]).find(({ role }) => role === 'roles/owner')?.members ?? [];
      const [owner] = owners;
      if (owner === undefined) return differs('nobody is owner');
      facts.set('caller', owner);
      return heldIf(owners.length === 1, `${owners.length} owner, a ${owner.split(':')[0]}`);
    },
  },
  {
    id: 'projects.taken',
    believes: 'A project id that is taken answers 409 ALREADY_EXISTS.',
    source: 'documented',
    needs: ['projects.create'],
    async run(bench) {
      const { status, reasons } = await create(bench);
      return heldIf(status === 409 && reasons.includes('ALREADY_EXISTS'), `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'projects.search',
    believes: 'The search by labels finds a new project within two minutes.',
    source: 'reported',
    needs: ['projects.create'],
    async run({ cloud, project, until }) {
      const found = await until(120, async () => {
        const page = await cloud.projects.searchPage('labels.plinth-first-contact=true', undefined);
        return page.projects.some(({ projectId }) => projectId === project) ? true : undefined;
      });
      return found === undefined ? differs('not found after two minutes') : held(`found after ${found.seconds} s`);
    },
  },
  {
    id: 'services.unpaid',
    believes: 'Enabling a paid API without a billing account answers 400 with UREQ_PROJECT_BILLING_NOT_FOUND.',
    source: 'reported',
    needs: ['projects.create'],
    async run({ ask, project }) {
      const { status, reasons } = await ask('serviceusage', `POST /v1/projects/${project}/services:batchEnable`, {
        serviceIds: ['compute.googleapis.com'],
      });
      const holds = status === 400 && reasons.includes('UREQ_PROJECT_BILLING_NOT_FOUND');
      return heldIf(holds, `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'services.iam-counts-here',
    believes: 'IAM looks whether its API is enabled in the project that is asked about, not in the one of the caller.',
    source: 'believed',
    needs: ['projects.create'],
    run: (bench) => disabledHere(bench, 'iam', `GET /v1/projects/${bench.project}/serviceAccounts`),
  },
  {
    id: 'services.compute-counts-here',
    believes: 'Compute Engine looks whether its API is enabled in the project that is asked about.',
    source: 'documented',
    needs: ['projects.create'],
    run: (bench) => disabledHere(bench, 'compute', `GET /compute/v1/projects/${bench.project}/regions/${bench.region}`),
  },
  {
    id: 'services.dns-counts-here',
    believes: 'Cloud DNS looks whether its API is enabled in the project that is asked about.',
    source: 'documented',
    needs: ['projects.create'],
    run: (bench) => disabledHere(bench, 'dns', `GET /dns/v1/projects/${bench.project}/managedZones`),
  },
  {
    id: 'services.policies-count-at-caller',
    believes: 'The policies of a project can be read without the Organization Policy API in that project.',
    source: 'believed',
    needs: ['projects.create'],
    async run({ ask, project }) {
      const line = `GET /v2/projects/${project}/policies/compute.requireOsLogin:getEffectivePolicy`;
      const { status, reasons, message } = await ask('orgpolicy', line);
      return heldIf(status === 200, `${status} ${reasons.join(' ')} ${message}`.trim());
    },
  },
  {
    id: 'billing.link',
    believes: 'A project is linked to a billing account by one call, which shows billing as enabled.',
    source: 'documented',
    needs: ['projects.create', 'billing.may-link'],
    async run({ cloud, project, billingAccount, facts }) {
      try {
        const { billingEnabled } = await cloud.billing.link(project, billingAccount);
        facts.set('paid', 'yes');
        return heldIf(billingEnabled === true, `billingEnabled is ${billingEnabled}`);
      } catch (error) {
        if (error instanceof Problem && error.code === 'cloud-quota') facts.set('billing-limit', error.message);
        throw error;
      }
    },
  },
  {
    id: 'billing.limit',
    believes: 'A billing account at its limit refuses with a QuotaFailure that names billing.',
    source: 'reported',
    needs: ['projects.create', 'billing.may-link'],
    async run({ facts }) {
      const limit = facts.get('billing-limit');
      return limit === undefined ? unknown('the account is not at its limit') : held(limit);
    },
  },
];

async function disabledHere({ ask, fact }: Bench, api: 'iam' | 'compute' | 'dns', line: string) {
  const { status, reasons, message, body } = await ask(api, line);
  const details = ((body['error'] as Tree | undefined)?.['details'] ?? []) as Tree[];
  const consumers = details.map(({ metadata }) => (metadata as Tree | undefined)?.['consumer']);
  const isHere = consumers.includes(`projects/${fact('number')}`) || message.includes(fact('number'));
  const is = status === 403 && (reasons.includes('SERVICE_DISABLED') || reasons.includes('accessNotConfigured'));
  return heldIf(is && isHere, `${status} ${reasons.join(' ')}${isHere ? '' : ', and this project is not named'}`);
}
