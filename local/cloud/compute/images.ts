/** The part of Google's public images that is needed here. */
import type { JsonObject } from '../kernel/api.js';
import { invalid, link, notFound, unlink } from './resources.js';

interface Image {
  readonly project: string;
  readonly family: string;
  readonly name: string;
  readonly id: string;
  readonly license: string;
}

const smallestGb = 10;

const images: readonly Image[] = [
  ['ubuntu-os-cloud', 'ubuntu-2204-lts', 'ubuntu-2204-jammy-v20250815', '7000000000000002204', 'ubuntu-2204-lts'],
  [
    'ubuntu-os-cloud',
    'ubuntu-2404-lts-amd64',
    'ubuntu-2404-noble-amd64-v20250819',
    '7000000000000002404',
    'ubuntu-2404-lts',
  ],
  [
    'ubuntu-os-cloud',
    'ubuntu-minimal-2204-lts',
    'ubuntu-minimal-2204-jammy-v20250815',
    '7000000000000002205',
    'ubuntu-2204-lts',
  ],
  ['debian-cloud', 'debian-12', 'debian-12-bookworm-v20250812', '7000000000000000012', 'debian-12-bookworm'],
  ['debian-cloud', 'debian-11', 'debian-11-bullseye-v20250812', '7000000000000000011', 'debian-11-bullseye'],
].map(([project = '', family = '', name = '', id = '', license = '']) => ({ project, family, name, id, license }));

/** Projects whose images everyone may read. */
export const isImageProject = (project: string): boolean => images.some((one) => one.project === project);

export const guestOsFeatures = ['VIRTIO_SCSI_MULTIQUEUE', 'SEV_CAPABLE', 'UEFI_COMPATIBLE', 'GVNIC'].map((type) => ({
  type,
}));

function imageResource(one: Image): JsonObject {
  const path = `projects/${one.project}/global/images/${one.name}`;
  return {
    kind: 'compute#image',
    id: one.id,
    creationTimestamp: '2025-08-15T02:14:06.417-07:00',
    name: one.name,
    description: `Canonical image ${one.name}`,
    sourceType: 'RAW',
    status: 'READY',
    family: one.family,
    diskSizeGb: String(smallestGb),
    archiveSizeBytes: String(smallestGb * 100_000_000),
    architecture: 'X86_64',
    licenses: [link(`projects/${one.project}/global/licenses/${one.license}`)],
    guestOsFeatures,
    storageLocations: ['us', 'eu', 'asia'],
    selfLink: link(path),
  };
}

export function imageByName(project: string, name: string): JsonObject {
  const found = images.find((one) => one.project === project && (one.name === name || one.id === name));
  if (found === undefined) throw notFound(`projects/${project}/global/images/${name}`);
  return imageResource(found);
}

export function imageOfFamily(project: string, family: string): JsonObject {
  const found = images.find((one) => one.project === project && one.family === family);
  if (found === undefined) throw notFound(`projects/${project}/global/images/family/${family}`);
  return imageResource(found);
}

const references = [
  { form: /^projects\/([^/]+)\/global\/images\/family\/([^/]+)$/, find: imageOfFamily },
  { form: /^projects\/([^/]+)\/zones\/[^/]+\/imageFamilyViews\/([^/]+)$/, find: imageOfFamily },
  { form: /^projects\/([^/]+)\/global\/images\/([^/]+)$/, find: imageByName },
];

/** The image that `sourceImage` means: a family, a family's view in a zone (gcloud), or an image. Any host may precede it. */
export function imageFrom(reference: string, field: string): JsonObject {
  for (const { form, find } of references) {
    const [, project, name] = form.exec(unlink(reference)) ?? [];
    if (project !== undefined && name !== undefined) return find(project, name);
  }
  throw invalid(field, reference, 'The URL is malformed.');
}
