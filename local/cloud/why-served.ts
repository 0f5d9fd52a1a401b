/**
 * Why the simulated cloud answers each method that it answers. A method is listed under the first reason that holds. What is
 * not listed answers 501.
 */
import type { ApiName } from './kernel/api.js';

/** Methods by reason, without the name of the API, separated by spaces: `projects.get projects.list`. */
export interface Reasons {
  /** The product calls it. */
  readonly product?: string;
  /** A command in README, docs/use or docs/operate calls it. */
  readonly docs?: string;
  /** First contact calls it. */
  readonly firstContact?: string;
  /** gcloud needs it to list, describe or delete what plinth creates. */
  readonly gcloud?: string;
  /** Terraform's provider needs it for the same kinds of resources. */
  readonly terraform?: string;
  /** None of these holds. Each method has its own reason. */
  readonly exceptions?: Readonly<Record<string, string>>;
}

export const whyServed: Readonly<Record<ApiName, Reasons>> = {
  'artifactregistry.v1': {},
  'cloudbilling.v1': {},
  'cloudquotas.v1': {},
  'cloudresourcemanager.v1': {},
  'cloudresourcemanager.v3': {},
  'cloudscheduler.v1': {},
  'compute.v1': {
    firstContact: 'forwardingRules.delete forwardingRules.insert',
    exceptions: {
      'forwardingRules.aggregatedList': 'gcloud lists by it what the platform has made in the project.',
      'forwardingRules.get': 'The stand-in for k0s reads the address that a service has got.',
      'forwardingRules.list': 'It shows a region what the stand-in for k0s has made.',
    },
  },
  'dns.v1': {},
  'iam.v1': {},
  'iamcredentials.v1': {},
  'orgpolicy.v2': {},
  'oslogin.v1': {},
  'publicca.v1': {},
  'pubsub.v1': {},
  'secretmanager.v1': {},
  'serviceusage.v1': {},
  'storage.v1': {},
};
