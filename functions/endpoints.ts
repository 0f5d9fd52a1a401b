/** Where the services are that plinth calls: the setting PLINTH_ENDPOINTS, in front of their own addresses. */
import type * as z from 'zod';
import { iapTunnelUrl } from '../shared/iap.js';
import { hostPort, ifSet, optional, origin, type Rows, secureUrl, setting, text, url, type Values } from './setting.js';

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
type Endpoints = Readonly<Record<Exclude<EndpointName, WithoutOwn>, string>> &
  Readonly<Partial<Record<WithoutOwn, string>>>;

/** `name=address,name=address`. Reports all faults at once, each with its name. */
const EndpointsSetting: z.ZodType<Endpoints, string> = text.transform((value, context) => {
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

export const endpointSettings = {
  PLINTH_ENDPOINTS: setting(
    EndpointsSetting,
    "Where services are, if not at their own addresses, as `name=address,name=address`: Google's APIs by the first word of their host (`compute`), `issuer-keys`, `iap-tunnel`, `docker-registry` (Artifact Registry's Docker endpoint), `k0s-releases`, `forge1-api`, `forge1-registry`, `forge1` to `forge4` (for the install config), and `dns-resolver` (`<IPv4>[:<port>]`, asked whether a domain is delegated). Of two addresses for one name, the last counts.",
    '',
  ),
  PUBSUB_EMULATOR_HOST: optional(hostPort, "host:port of Pub/Sub's emulator, in its place."),
} satisfies Rows;

export interface EndpointsConfig {
  /** Base URL of each API, without a trailing slash: `https://compute.googleapis.com`. */
  readonly endpoints: Readonly<Record<GoogleApi, string>>;
  readonly pubsubEmulatorHost?: string;
  /** `wss://host/v4` */
  readonly iapTunnelUrl: string;
  /** Base URL of the releases of k0s: `<version>/k0s-<version>-amd64` and `sha256sums.txt` beneath it. */
  readonly k0sReleasesUrl: string;
  /** Base URL of forge1's API, for team keys. */
  readonly forge1ApiUrl: string;
  /** Base URLs of registries, as machines and nodes reach them. */
  readonly registryUrls: {
    readonly forge1: string;
    /** Undefined: the region's host, `https://<region>-docker.pkg.dev`. */
    readonly artifactRegistry?: string;
  };
  /** Base URLs that go into the install config. */
  readonly forgeUrls: Readonly<Record<'forge1' | 'forge2' | 'forge3' | 'forge4', string>>;
  /** Resolver for looks at the DNS, as `<IPv4>[:<port>]`. Name servers are asked at the same port. Undefined: the machine's. */
  readonly dnsResolver?: string;
}

export const readEndpoints = ({
  PLINTH_ENDPOINTS: at,
  PUBSUB_EMULATOR_HOST: emulator,
}: Values<typeof endpointSettings>): EndpointsConfig => ({
  endpoints: Object.fromEntries(googleApis.map((api) => [api, at[api]])) as EndpointsConfig['endpoints'],
  ...ifSet('pubsubEmulatorHost', emulator),
  iapTunnelUrl: at['iap-tunnel'],
  k0sReleasesUrl: at['k0s-releases'],
  forge1ApiUrl: at['forge1-api'],
  registryUrls: { forge1: at['forge1-registry'], ...ifSet('artifactRegistry', at['docker-registry']) },
  forgeUrls: { forge1: at.forge1, forge2: at.forge2, forge3: at.forge3, forge4: at.forge4 },
  ...ifSet('dnsResolver', at['dns-resolver']),
});

/** As PLINTH_ENDPOINTS takes it. */
export const endpointsText = (addresses: Partial<Record<EndpointName, string | undefined>>): string =>
  Object.entries(addresses)
    .flatMap(([name, address]) => (address === undefined ? [] : [`${name}=${address}`]))
    .join(',');
