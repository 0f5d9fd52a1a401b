/** The further commands that are tried each night: forms of lists, whole lives of resources, mistakes, and what is not simulated. */
import { region, zone } from '../local-cloud/furnished.js';
import type { Command, Commands } from './commands.js';
import { nightlyMistakes } from './nightly-mistakes.js';

const anything = /^/;
const none = /Listed 0 items|^\s*(\[\])?\s*$/;
const notThere = { fails: /not ?found|does not exist|doesn't exist|permission/i };
const limit = { fails: /The simulated cloud has no/ };
const location = `--location ${region}`;

/** Each list with what it holds by default, and the field that names a row. */
const lists: readonly (readonly [list: string, holds: RegExp, name: string])[] = [
  ['compute instances list', /jumpbox/, 'name'],
  ['compute disks list', /jumpbox/, 'name'],
  ['compute networks list', /net/, 'name'],
  [`compute networks subnets list --regions ${region}`, /sub/, 'name'],
  ['compute firewall-rules list', /allow-ssh/, 'name'],
  ['compute routers list', /router/, 'name'],
  ['compute addresses list', /gateway/, 'name'],
  ['compute machine-types list', /e2-micro/, 'name'],
  ['compute regions list', /europe-west4/, 'name'],
  ['compute zones list', /europe-west4-a/, 'name'],
  ['dns managed-zones list', /platform/, 'name'],
  ['dns record-sets list --zone platform', /platform\.example\.com/, 'name'],
  ['secrets list', /age-identity/, 'name'],
  [`artifacts repositories list ${location}`, /platform-registry/, 'name'],
  ['services list --enabled', /compute\.googleapis\.com/, 'config.name'],
  ['projects list', /ready-project/, 'projectId'],
];

/** gcloud says more than the rows, so only the row itself must be missing. */
const without = (row: RegExp): RegExp => new RegExp(`Listed 0 items|^(?![\\s\\S]*(?:${row.source}))`);

const formsOf = ([list, holds, name]: (typeof lists)[number]): Command[] => [
  [list, holds],
  [`${list} --format=json`, holds],
  [`${list} --format=value(${name}) --limit=1`, /\S/],
  [`${list} --sort-by=~${name} --page-size=2`, anything],
  [`${list} --filter=${name}=no-such-thing-here`, without(holds)],
];

const describes: readonly Command[] = [
  ...[
    `compute instances describe NAME --zone ${zone}`,
    `compute disks describe NAME --zone ${zone}`,
    'compute networks describe NAME',
    `compute networks subnets describe NAME --region ${region}`,
    'compute firewall-rules describe NAME',
    `compute routers describe NAME --region ${region}`,
    `compute addresses describe NAME --region ${region}`,
    'compute regions describe NAME',
    `compute machine-types describe NAME --zone ${zone}`,
    'dns managed-zones describe NAME',
    'secrets describe NAME',
    `artifacts repositories describe NAME ${location}`,
    'pubsub topics describe NAME',
    `scheduler jobs describe NAME ${location}`,
    'iam service-accounts describe NAME@ready-project.iam.gserviceaccount.com',
    'storage buckets describe gs://NAME-of-nobody',
    'projects describe NAME',
  ].map((command): Command => [command.replace('NAME', 'no-such-thing'), notThere]),
  [`compute networks subnets describe sub --region ${region}`, /10\.10\.0\.0\/20/],
  [`compute routers describe router --region ${region}`, /nats/],
  [`compute disks describe jumpbox --zone ${zone}`, /READY/],
  ['compute project-info describe', /ready-project/],
  ['compute regions describe europe-west4', /quotas/],
  [`compute zones describe ${zone}`, /UP/],
  [`compute machine-types describe e2-medium --zone ${zone}`, /guestCpus: 2/],
  [`artifacts repositories describe platform-registry ${location}`, /DOCKER/],
  ['secrets describe age-identity', /replication/],
];

const lives: Commands = {
  'life of a network': [
    ['compute networks create wide --subnet-mode custom', /Created/],
    ['compute networks create wide --subnet-mode custom', { fails: /already exists/ }],
    [`compute networks subnets create inner --network wide --region ${region} --range 10.30.0.0/20`, /Created/],
    [
      `compute networks subnets create again --network wide --region ${region} --range 10.30.0.0/24`,
      { fails: /overlap|conflict|Invalid/i },
    ],
    ['compute firewall-rules create inside --network wide --allow tcp:80,icmp --source-ranges 10.30.0.0/20', /inside/],
    ['compute firewall-rules update inside --priority 900', /Updated/],
    ['compute firewall-rules describe inside --format=value(priority)', /900/],
    [`compute routers create away --network wide --region ${region}`, /away/],
    [
      `compute routers nats create nat --router away --region ${region} --auto-allocate-nat-external-ips --nat-all-subnet-ip-ranges`,
      anything,
    ],
    [`compute routers nats list --router away --region ${region}`, /nat/],
    ['compute networks delete wide', { fails: /already being used/ }],
    [`compute routers delete away --region ${region}`, /Deleted/],
    ['compute firewall-rules delete inside', /Deleted/],
    [`compute networks subnets delete inner --region ${region}`, /Deleted/],
    ['compute networks delete wide', /Deleted/],
  ],
  'life of a VM': [
    [
      `compute instances create worker --zone ${zone} --machine-type e2-small --subnet sub --image-family ubuntu-2204-lts --image-project ubuntu-os-cloud --no-service-account --no-scopes`,
      /RUNNING/,
    ],
    [`compute instances add-labels worker --zone ${zone} --labels made-by=test`, /Updating labels/],
    ['compute instances list --filter=labels.made-by=test --format=value(name)', /worker/],
    [`compute instances add-tags worker --zone ${zone} --tags one`, /Updated/],
    [`compute instances add-metadata worker --zone ${zone} --metadata a=b`, /Updated/],
    [`compute instances stop worker --zone ${zone}`, /Updated|Stopping/],
    [`compute instances describe worker --zone ${zone} --format=value(status)`, /TERMINATED/],
    [`compute instances set-machine-type worker --zone ${zone} --machine-type e2-medium`, /Updated/],
    [`compute instances start worker --zone ${zone}`, /Updated|Starting/],
    [`compute instances delete worker --zone ${zone}`, /Deleted/],
    [`compute instances describe worker --zone ${zone}`, notThere],
    [`compute disks create spare --zone ${zone} --size 20 --type pd-ssd`, /READY/],
    [`compute disks delete spare --zone ${zone}`, /Deleted/],
    [`compute addresses create spare --region ${region}`, /Created/],
    [`compute addresses delete spare --region ${region}`, /Deleted/],
  ],
  'life of names': [
    ['dns managed-zones create inner --dns-name inner.example.com. --description Inner', /Created/],
    ['dns managed-zones delete inner', /Deleted/],
  ],
  'life of messages and jobs': [
    ['pubsub topics create news', /Created topic/],
    ['pubsub topics create news', { fails: /already exists/i }],
    ['pubsub topics publish news --message one', /messageIds/],
    ['pubsub topics list', /news/],
    ['pubsub subscriptions list', anything],
    ['pubsub topics delete news', /Deleted/],
    [`scheduler jobs create http tick ${location} --schedule=*␣*␣*␣*␣* --uri http://127.0.0.1:9/`, /ENABLED/],
    [
      `scheduler jobs create http tick ${location} --schedule=*␣*␣*␣*␣* --uri http://127.0.0.1:9/`,
      { fails: /already exists/i },
    ],
    [`scheduler jobs create http bad ${location} --schedule=nonsense --uri http://127.0.0.1:9/`, { fails: /invalid/i }],
    [`scheduler jobs pause tick ${location}`, /paused/i],
    [`scheduler jobs resume tick ${location}`, /resumed/i],
    [`scheduler jobs resume tick ${location}`, /resumed/i],
    [`scheduler jobs update http tick ${location} --description changed`, /changed/],
    [`scheduler jobs delete tick ${location}`, /Deleted/],
  ],
  'life of secrets and repositories': [
    ['secrets create new-secret --replication-policy automatic', /Created secret/],
    ['secrets create new-secret --replication-policy automatic', { fails: /already exists/i }],
    ['secrets update new-secret --update-labels a=b', /Updated secret/],
    ['secrets versions list new-secret', none],
    ['secrets versions access latest --secret new-secret', notThere],
    ['secrets delete new-secret', /Deleted secret/],
    ['secrets create Bad.Name --replication-policy automatic', { fails: /./ }],
    [`artifacts repositories create images ${location} --repository-format docker`, /Created repository/],
    [`artifacts repositories create images ${location} --repository-format docker`, { fails: /already exist/i }],
    [`artifacts repositories update images ${location} --description changed`, anything],
    [`artifacts repositories delete images ${location}`, /Deleted repository/],
    ['artifacts repositories create images --location nowhere1 --repository-format docker', { fails: /nowhere1/ }],
  ],
  'life of accounts and policies': [
    ['iam service-accounts create robot-one --display-name Robot', /Created service account/],
    ['iam service-accounts create robot-one', { fails: /already exists/i }],
    ['iam service-accounts create no', { fails: /./ }],
    ['iam service-accounts list', /robot-one/],
    [
      'projects add-iam-policy-binding ready-project --member serviceAccount:robot-one@ready-project.iam.gserviceaccount.com --role roles/viewer',
      /Updated IAM policy/,
    ],
    ['projects get-iam-policy ready-project --format=json', /robot-one/],
    [
      'projects remove-iam-policy-binding ready-project --member serviceAccount:robot-one@ready-project.iam.gserviceaccount.com --role roles/viewer',
      /Updated IAM policy/,
    ],
    [
      'projects add-iam-policy-binding ready-project --member serviceAccount:nobody@ready-project.iam.gserviceaccount.com --role roles/viewer',
      { fails: /nobody@/ },
    ],
    [
      'projects add-iam-policy-binding ready-project --member user:alice@example.com --role roles/no.such',
      { fails: /./ },
    ],
    ['iam service-accounts get-iam-policy robot-one@ready-project.iam.gserviceaccount.com', /etag/],
    ['iam service-accounts disable robot-one@ready-project.iam.gserviceaccount.com', /Disabled/],
    ['iam service-accounts enable robot-one@ready-project.iam.gserviceaccount.com', /Enabled/],
    ['iam service-accounts delete robot-one@ready-project.iam.gserviceaccount.com', /deleted/i],
    ['iam roles describe roles/viewer', /Viewer/],
  ],
  'life of buckets': [
    [`storage buckets create gs://nightly-bucket --location ${region}`, /Creating/],
    [`storage buckets create gs://nightly-bucket --location ${region}`, { fails: /./ }],
    ['storage ls', /nightly-bucket/],
    ['storage buckets describe gs://nightly-bucket', /nightly-bucket/],
    ['storage ls gs://nightly-bucket', anything],
    ['storage ls gs://bucket-of-nobody', { fails: /./ }],
  ],
};

/** Services that gcloud knows and nothing here serves. No command may reach a real host. */
const elsewhere: readonly Command[] = [
  'container clusters list',
  'run services list',
  'functions list',
  'sql instances list',
  'logging logs list',
  'builds list --region global',
  'composer environments list --locations europe-west4',
  'dataflow jobs list',
  `dataproc clusters list --region ${region}`,
  `redis instances list --region ${region}`,
  `kms keyrings list ${location}`,
  `tasks queues list ${location}`,
  'bigtable instances list',
  'spanner instances list',
  'firestore databases list',
].map((command): Command => [command, limit]);

/** Artifact Registry filters its list itself. The simulated one does not do so yet. */
const isServed = ([command]: Command): boolean => !/repositories list .*--filter/.test(command);

/** Cut, so that two can be at work at any time. */
const pieces = (title: string, commands: readonly Command[], size: number): Commands =>
  Object.fromEntries(
    Array.from({ length: Math.ceil(commands.length / size) }, (_, i) => [
      `${title}, part ${i + 1}`,
      commands.slice(i * size, (i + 1) * size),
    ]),
  );

export const nightlyCommands: Commands = {
  ...pieces('forms of lists', lists.flatMap(formsOf).filter(isServed), 30),
  'what there is, and is not': describes,
  ...lives,
  ...nightlyMistakes,
  'what is not simulated': elsewhere,
};
