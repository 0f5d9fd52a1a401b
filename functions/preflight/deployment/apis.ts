/** Whether the APIs are on in plinth's own project. Each is asked what its function asks it anyway. */
import { deploymentSecrets, schedulerJobs, topics } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { type Asking, defineFinding, type Finding, ok, stop } from '../../engine/finding.js';
import { accountsOf, parentsOf, zonesOf } from '../../host/allowed-places.js';

/** By API, what to ask of it. Undefined: this deployment names nothing to ask for. */
type Asks = Readonly<Record<string, (asking: Asking) => Promise<unknown> | undefined>>;

const asksOfBootstraps: Asks = {
  'compute.googleapis.com': ({ context: { cloud, config }, intent }) =>
    cloud.places.zonesOf(config.project, intent.options.region),
  'cloudscheduler.googleapis.com': ({ context: { cloud } }) => cloud.scheduler.status(schedulerJobs.sweep),
  'pubsub.googleapis.com': ({ context: { cloud, config } }) =>
    config.pubsubEmulatorHost === undefined ? cloud.topics.held(topics.cloud, ['pubsub.topics.publish']) : undefined,
  'secretmanager.googleapis.com': ({ context: { cloud } }) =>
    cloud.secretManager.held(deploymentSecrets.proofKey, ['secretmanager.versions.access']),
};

const asksOfCheck: Asks = {
  'cloudresourcemanager.googleapis.com': ({ context: { cloud, config } }) =>
    cloud.projects.held(`projects/${config.project}`, ['secretmanager.secrets.create']),
  'serviceusage.googleapis.com': ({ context: { cloud, config } }) =>
    cloud.services.enabled(config.project, ['serviceusage.googleapis.com']),
  'cloudbilling.googleapis.com'({ context: { cloud, config } }) {
    const [account] = accountsOf(config);
    return account === undefined ? undefined : cloud.billing.mayLink(account);
  },
  'orgpolicy.googleapis.com'({ context: { cloud, config } }) {
    const [parent] = parentsOf(config);
    return parent === undefined ? undefined : cloud.orgPolicy.effective(parent, 'gcp.resourceLocations');
  },
  'dns.googleapis.com'({ context: { cloud, config } }) {
    const [zone] = zonesOf(config);
    return zone === undefined ? undefined : cloud.dns.held(zone.project, zone.zone, ['dns.managedZones.get']);
  },
};

/** Other refusals are told by other findings. */
function isOff(error: unknown): boolean {
  const reasons: unknown = error instanceof Problem ? error.members?.['reasons'] : undefined;
  return Array.isArray(reasons) && reasons.some((each) => ['SERVICE_DISABLED', 'accessNotConfigured'].includes(each));
}

const apisOf = (name: 'bootstraps' | 'run-cloud-step', by: Finding['by'], asks: Asks): Finding =>
  defineFinding({
    code: `apis-${name}`,
    title: `APIs of ${name}`,
    why: 'Google refuses every call of an API that is off.',
    by,
    about: [],
    async ask(asking) {
      const asked = Object.entries(asks).flatMap(([api, ask]) => {
        const answer = ask(asking);
        return answer === undefined
          ? []
          : [answer.then(() => ({ api, off: false })).catch((error: unknown) => ({ api, off: isOff(error) }))];
      });
      return { project: asking.context.config.project, found: await Promise.all(asked) };
    },
    judge({ project, found }) {
      const off = found.flatMap((each) => (each.off ? [each.api] : []));
      if (off.length === 0) return ok(`${found.length} are on in ${project}`);
      return stop(
        new Problem('cloud-permission', `${off.join(', ')} ${off.length === 1 ? 'is' : 'are'} off in ${project}.`, {
          advice: `Apply terraform again, or: gcloud services enable ${off.join(' ')} --project=${project}`,
        }),
      );
    },
  });

export const apis: readonly Finding[] = [
  apisOf('bootstraps', 'bootstraps', asksOfBootstraps),
  apisOf('run-cloud-step', 'check', asksOfCheck),
];
