/** What people type on an ordinary day. */
import { region, zone } from '../local-cloud/furnished.js';
import type { Commands } from './commands.js';

const anything = /^/;
const location = `--location ${region}`;

export const dailyCommands: Commands = {
  projects: [
    ['projects list', /ready-project/],
    ['projects describe ready-project', /lifecycleState: ACTIVE/],
    ['projects describe no-such-project', { fails: /does not have permission|may not exist/ }],
    ['projects get-iam-policy ready-project', /etag/],
    ['projects create made-project --organization 100 --name Made', anything],
    ['projects update made-project --name Renamed', /Updated/],
    ['projects delete made-project', /Deleted/],
  ],
  services: [
    ['services list --enabled', /compute\.googleapis\.com/],
    ['services enable redis.googleapis.com', anything],
    [
      'services enable nonsense.googleapis.com',
      { fails: /SERVICE_CONFIG_NOT_FOUND_OR_PERMISSION_DENIED|permission denied/i },
    ],
    ['services disable redis.googleapis.com', anything],
  ],
  compute: [
    ['compute instances list', /jumpbox/],
    ['compute instances list --filter=status=RUNNING --sort-by=~name --limit=1', /jumpbox/],
    [`compute instances describe jumpbox --zone ${zone} --format=value(status)`, /RUNNING/],
    [`compute instances describe nobody --zone ${zone}`, { fails: /was not found/ }],
    ['compute networks list --format=value(name)', /default\s+net/],
    [`compute networks subnets list --network net`, /sub/],
    ['compute firewall-rules describe allow-ssh', /allow-ssh/],
    ['compute firewall-rules update allow-ssh --source-ranges 10.0.0.0/8', /Updated/],
    [`compute addresses describe gateway --region ${region}`, /EXTERNAL/],
    [
      `compute instances create bad --zone ${zone} --machine-type z9-nonsense-1`,
      { fails: /does not exist|was not found/i },
    ],
    [
      `compute instances create big --zone ${zone} --machine-type a2-highgpu-1g`,
      { fails: /The simulated cloud has no/ },
    ],
    ['compute accelerator-types list', /The simulated cloud has no method compute\.acceleratorTypes/],
  ],
  dns: [
    ['dns managed-zones describe platform', /platform\.example\.com\./],
    ['dns record-sets list --zone platform --name cs.platform.example.com. --type A', /203\.0\.113\.7/],
    ['dns managed-zones describe none', { fails: /does not exist|not found/i }],
  ],
  rest: [
    ['secrets list', /age-identity/],
    ['secrets describe none', { fails: /not found/i }],
    ['pubsub topics create topic', /Created topic/],
    ['pubsub topics publish topic --message hello', /messageIds/],
    [`artifacts repositories list ${location}`, /platform-registry/],
    ['artifacts repositories list --location nowhere1', { fails: /nowhere1/ }],
    ['iam service-accounts create robot-one', /Created service account/],
    [`scheduler jobs list ${location}`, /Listed 0|^\s*$/],
    ['container clusters list', { fails: /The simulated cloud has no service container/ }],
    ['run services list', { fails: /The simulated cloud has no/ }],
    ['billing projects describe ready-project', /billingEnabled: true/],
  ],
};
