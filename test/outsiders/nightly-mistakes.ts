/** Commands of every night: forwarding rules, policies and roles of an organization, and mistakes that people make. */
import { region, zone } from '../local-cloud/furnished.js';
import type { Command, Commands } from './commands.js';

const fails = (words: RegExp): { readonly fails: RegExp } => ({ fails: words });
const notThere = fails(/not ?found|does not exist|doesn't exist|permission/i);
const refused = fails(/./);
const inRegion = `--region ${region}`;
const location = `--location ${region}`;
const project = 'ready-project';

const forwardingRules: readonly Command[] = [
  // The target pool is only named.
  [`compute forwarding-rules create rule ${inRegion} --target-pool pool --ports 80`, /Created/],
  [`compute forwarding-rules create rule ${inRegion} --target-pool pool --ports 80`, fails(/already exists/)],
  ['compute forwarding-rules list', /rule/],
  [`compute forwarding-rules describe rule ${inRegion}`, /TCP/],
  [`compute forwarding-rules delete rule ${inRegion}`, /Deleted/],
  [`compute forwarding-rules describe rule ${inRegion}`, notThere],
];

const organization: readonly Command[] = [
  ['organizations get-iam-policy 100', /roles\/owner/],
  [
    `iam roles create tester --project ${project} --title Tester --permissions compute.instances.get --stage GA`,
    /tester/,
  ],
  [`iam roles create tester --project ${project} --title Tester`, fails(/already exists/i)],
  [`iam roles create worse --project ${project} --title Worse --permissions no.such.permission`, refused],
  [`iam roles describe tester --project ${project}`, /compute\.instances\.get/],
  [`iam roles update tester --project ${project} --add-permissions compute.instances.list`, /compute\.instances\.list/],
  [
    `projects add-iam-policy-binding ${project} --member user:alice@example.com --role projects/${project}/roles/tester --condition=expression=resource.name.startsWith("projects/${project}"),title=only`,
    /Updated IAM policy/,
  ],
  [
    `projects add-iam-policy-binding ${project} --member user:alice@example.com --role roles/viewer --condition=expression=nonsense(,title=bad`,
    refused,
  ],
  [`iam roles delete tester --project ${project}`, /deleted: true/],
  [`iam roles undelete tester --project ${project}`, /tester/],
  ['iam roles describe roles/no.such', notThere],
  [`projects get-iam-policy ${project} --format=json`, /alice/],
];

const mistakes: readonly Command[] = [
  [`compute instances create Bad_Name --zone ${zone} --subnet sub`, refused],
  [`compute instances create bad --zone ${zone} --subnet sub --machine-type no-such-type`, refused],
  ['compute instances create bad --zone nowhere1-a --subnet sub', refused],
  [`compute instances create bad --zone ${zone} --subnet nobody`, refused],
  ...['delete', 'start', 'stop', 'reset'].map(
    (verb): Command => [`compute instances ${verb} nobody --zone ${zone}`, notThere],
  ),
  ['compute networks create Bad_Name --subnet-mode custom', refused],
  ['compute networks delete nobody', notThere],
  [`compute networks subnets create bad --network nobody ${inRegion} --range 10.40.0.0/20`, notThere],
  [`compute networks subnets create bad --network net ${inRegion} --range 10.40.0.1/20`, refused],
  [`compute networks subnets expand-ip-range sub ${inRegion} --prefix-length 28`, refused],
  ['compute firewall-rules create bad --network nobody --allow tcp:80', notThere],
  ['compute firewall-rules delete nobody', notThere],
  [`compute addresses delete nobody ${inRegion}`, notThere],
  [`compute disks resize jumpbox --size 5 --zone ${zone}`, refused],
  [`compute disks create bad --zone ${zone} --size 20 --type no-such-type`, refused],
  [`compute disks delete jumpbox --zone ${zone}`, fails(/already being used/)],
  ['dns record-sets list --zone nobody', notThere],
  ['dns record-sets delete nobody.platform.example.com. --zone platform --type A', refused],
  ['dns managed-zones delete nobody', notThere],
  ['secrets versions access 1 --secret nobody', notThere],
  ['secrets delete nobody', notThere],
  ['pubsub topics delete nobody', notThere],
  [`scheduler jobs delete nobody ${location}`, notThere],
  [`artifacts repositories delete nobody ${location}`, notThere],
  [`projects create ${project}`, refused],
  ['projects create Bad', refused],
  ['projects delete nobody-is-here', refused],
  ['services enable no-such-service.googleapis.com', refused],
];

export const nightlyMistakes: Commands = {
  'forwarding rules': forwardingRules,
  'roles and policies of an organization': organization,
  mistakes,
};
