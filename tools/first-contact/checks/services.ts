/** APIs: how they are enabled, and how long that takes. */
import { type Check, differs, held, heldIf } from '../check.js';

const wanted = [
  'compute',
  'iam',
  'serviceusage',
  'dns',
  'artifactregistry',
  'cloudresourcemanager',
  'secretmanager',
  'iamcredentials',
  'cloudquotas',
  'iap',
  'oslogin',
  'storage',
].map((name) => `${name}.googleapis.com`);

/** More than one call may hold, with the wanted ones. */
const more = ['pubsub', 'run', 'eventarc', 'logging', 'monitoring', 'cloudscheduler', 'firestore'].map(
  (name) => `${name}.googleapis.com`,
);
const tooMany = [...wanted, ...more, 'cloudbuild', 'orgpolicy', 'publicca'].map((name) =>
  name.includes('.') ? name : `${name}.googleapis.com`,
);

export const serviceChecks: readonly Check[] = [
  {
    id: 'services.too-many',
    believes: 'One call enables at most 20 APIs, and refuses more with 400.',
    source: 'documented',
    needs: ['billing.link'],
    async run({ ask, project }) {
      const { status, reasons } = await ask('serviceusage', `POST /v1/projects/${project}/services:batchEnable`, {
        serviceIds: tooMany,
      });
      return heldIf(status === 400, `${tooMany.length} APIs: ${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'services.enable',
    believes: 'All APIs of a bootstrap are enabled by one operation within five minutes.',
    source: 'documented',
    needs: ['billing.link'],
    async run({ cloud, project, until }) {
      const begun = await cloud.services.enable(project, wanted);
      const over = begun.done
        ? { seconds: 0 }
        : await until(300, async () => {
            const operation = await cloud.services.operation(begun.name);
            if (operation.failure !== undefined) throw operation.failure;
            return operation.done ? true : undefined;
          });
      if (over === undefined) return differs('not enabled after five minutes');
      const enabled = await cloud.services.enabled(project, wanted);
      return heldIf(enabled.length === wanted.length, `${enabled.length} of ${wanted.length} after ${over.seconds} s`);
    },
  },
  {
    id: 'services.first-call',
    believes: 'Calls to an API that was just enabled answer 403 SERVICE_DISABLED for two minutes at most, then work.',
    source: 'reported',
    needs: ['services.enable'],
    async run({ ask, project, region, until }) {
      const seen = new Set<string>();
      const line = `GET /compute/v1/projects/${project}/regions/${region}`;
      const works = await until(420, async () => {
        const { status, reasons } = await ask('compute', line);
        if (status !== 200) seen.add(`${status} ${reasons.join(' ')}`);
        return status === 200 ? true : undefined;
      });
      const before = seen.size === 0 ? 'never refused' : `before: ${[...seen].join('; ')}`;
      if (works === undefined) return differs(`still refused after seven minutes: ${before}`);
      const isUsual = [...seen].every((each) => /SERVICE_DISABLED|accessNotConfigured/.test(each));
      return heldIf(works.seconds <= 120 && isUsual, `works after ${works.seconds} s, ${before}`);
    },
  },
  {
    id: 'services.each-api',
    believes: 'The other APIs that were enabled in the same call work at the same time.',
    source: 'believed',
    needs: ['services.first-call'],
    async run({ ask, project, region, until }) {
      const lines = [
        ['dns', `GET /dns/v1/projects/${project}/managedZones`],
        ['iam', `GET /v1/projects/${project}/serviceAccounts`],
        ['secretmanager', `GET /v1/projects/${project}/secrets`],
        ['artifactregistry', `GET /v1/projects/${project}/locations/${region}/repositories`],
      ] as const;
      const late: string[] = [];
      for (const [api, line] of lines) {
        const works = await until(300, async () => ((await ask(api, line)).status === 200 ? true : undefined));
        if (works === undefined) return differs(`${api} is still refused after five minutes`);
        if (works.seconds > 1) late.push(`${api} ${works.seconds} s later`);
      }
      return late.length === 0 ? held('all at once') : differs(late.join(', '));
    },
  },
];
