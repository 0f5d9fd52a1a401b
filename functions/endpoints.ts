/** Where the services are that plinth calls: the setting PLINTH_ENDPOINTS, in front of their own addresses. */
import type * as z from 'zod';
import { iapTunnelUrl } from '../shared/iap.js';
import { origin, secureUrl, text, url } from './setting.js';

/** APIs that plinth calls. The base URL of each is an endpoint. */
export const googleApis = [
  'cloudresourcemanager',
  'cloudbilling',
  'serviceusage',
  'iam',
  'compute',
  'dns',
  'artifactregistry',
  'secretmanager',
  'publicca',
  'cloudquotas',
  'pubsub',
  'cloudscheduler',
  'storage',
  'iamcredentials',
  'orgpolicy',
  'oslogin',
] as const;
export type GoogleApi = (typeof googleApis)[number];

const webSocketUrl = text
  .refine((value) => secureUrl.safeParse(value.replace(/^ws/, 'http')).success && /^wss?:/.test(value), {
    message: 'must be a wss URL (plain ws is for loopback only)',
  })
  .transform((value) => value.replace(/\/+$/, ''));

interface Endpoint {
  readonly schema: z.ZodType<string, string>;
  /** Its own address. Undefined: it depends on the bootstrap or the machine. */
  readonly own?: string;
}

const others = {
  /** The keys that the issuer signs ID tokens with. */
  'issuer-keys': { schema: url, own: 'https://www.googleapis.com/oauth2/v3/certs' },
  /** Takes the WebSockets of tunnels to machines. */
  'iap-tunnel': { schema: webSocketUrl, own: iapTunnelUrl },
  /** Artifact Registry's Docker endpoint. By itself it is that of the region, `https://<region>-docker.pkg.dev`. */
  'docker-registry': { schema: origin },
  /** `<version>/k0s-<version>-amd64` and `<version>/sha256sums.txt` are beneath it. */
  'k0s-releases': { schema: url, own: 'https://github.com/k0sproject/k0s/releases/download' },
  /** Team keys are read there. */
  'forge1-api': { schema: url, own: 'https://api.github.com' },
  /** Nodes pull from it, or the jumpbox mirrors it. */
  'forge1-registry': { schema: origin, own: 'https://ghcr.io' },
  forge1: { schema: url, own: 'https://github.com' },
  forge2: { schema: url, own: 'https://gitlab.com' },
  forge3: { schema: url, own: 'https://bitbucket.org' },
  forge4: { schema: url, own: 'https://dev.azure.com' },
  /** Name servers are asked at the same port. By itself it is the machine's, and port 53. */
  'dns-resolver': {
    schema: text.regex(/^\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?$/, 'must be an IPv4 address, with or without a port'),
  },
} satisfies Record<string, Endpoint>;
type WithoutOwn = 'docker-registry' | 'dns-resolver';

const ofGoogle = (api: GoogleApi): Endpoint => ({ schema: url, own: `https://${api}.googleapis.com` });
const google = Object.fromEntries(googleApis.map((api) => [api, ofGoogle(api)])) as Record<GoogleApi, Endpoint>;
const rows: Readonly<Record<GoogleApi | keyof typeof others, Endpoint>> = { ...others, ...google };
type EndpointName = keyof typeof rows;
const isEndpoint = (name: string): name is EndpointName => Object.hasOwn(rows, name);

/** The address of each service, without a trailing slash. */
export type Endpoints = Readonly<Record<Exclude<EndpointName, WithoutOwn>, string>> &
  Readonly<Partial<Record<WithoutOwn, string>>>;

/** `name=address,name=address`. Reports all faults at once, each with its name. */
export const EndpointsSetting: z.ZodType<Endpoints, string> = text.transform((value, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message, input: value });
  const addresses = new Map(
    Object.entries(rows).flatMap(([name, { own }]) => (own === undefined ? [] : [[name, own]])),
  );
  for (const part of value.split(',').map((each) => each.trim())) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(at, 0)).trim();
    if (at < 1) refuse(`must be name=address, and has “${part}”`);
    else if (!isEndpoint(name)) refuse(`has “${name}”, and knows ${Object.keys(rows).join(', ')}`);
    else {
      const read = rows[name].schema.safeParse(part.slice(at + 1).trim());
      if (read.success) addresses.set(name, read.data);
      else refuse(`${name} ${read.error.issues.map(({ message }) => message).join('; ')}`);
    }
  }
  return Object.fromEntries(addresses) as unknown as Endpoints;
});

/** As PLINTH_ENDPOINTS takes it. */
export const endpointsText = (addresses: Partial<Record<EndpointName, string | undefined>>): string =>
  Object.entries(addresses)
    .flatMap(([name, address]) => (address === undefined ? [] : [`${name}=${address}`]))
    .join(',');
