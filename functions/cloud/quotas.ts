/** Wraps Cloud Quotas: requests for more quota of Compute Engine in a project, and their answers. */
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

const service = 'compute.googleapis.com';

/** A quota of a project: `region` is missing where it counts in all regions together. */
interface QuotaPlace {
  readonly quotaId: string;
  readonly region?: string | undefined;
}

interface QuotaWish extends QuotaPlace {
  readonly preferred: number;
  /** Whom Google may write to. */
  readonly contact: string;
  readonly justification: string;
}

/** A request that stands. Google keeps at most one for each quota and region. */
interface QuotaRequest extends QuotaPlace {
  /** `projects/<number>/locations/global/quotaPreferences/<id>` */
  readonly name: string;
  readonly preferred: number;
  readonly granted: number;
  /** Whether Google still looks at it. */
  readonly open: boolean;
  /** In Google's words. */
  readonly answer: string | undefined;
  readonly etag: string | undefined;
  /** Differs after each change of the request. */
  readonly version: string;
}

interface Preference {
  readonly name: string;
  readonly quotaId: string;
  readonly service: string;
  readonly dimensions?: Readonly<Record<string, string>>;
  readonly reconciling?: boolean;
  readonly etag?: string;
  readonly updateTime?: string;
  readonly quotaConfig: {
    readonly preferredValue?: string;
    readonly grantedValue?: string;
    readonly stateDetail?: string;
  };
}

export function createQuotas(transport: Transport) {
  const rest = createRest(transport, 'cloudquotas');
  const parentOf = (projectId: string): string => `projects/${projectId}/locations/global`;
  const bodyOf = ({ quotaId, region, preferred, contact, justification }: QuotaWish) => ({
    service,
    quotaId,
    ...(region === undefined ? {} : { dimensions: { region } }),
    quotaConfig: { preferredValue: String(preferred) },
    contactEmail: contact,
    justification,
  });
  return {
    async requests(projectId: string): Promise<readonly QuotaRequest[]> {
      const found: Preference[] = [];
      for (let pageToken: string | undefined, first = true; first || pageToken !== undefined; first = false) {
        const page: { quotaPreferences?: Preference[]; nextPageToken?: string } = await rest(
          'GET',
          `/v1/${parentOf(projectId)}/quotaPreferences`,
          { doing: `read the requests for quota of ${projectId}`, query: { pageSize: '100', pageToken } },
        );
        found.push(...(page.quotaPreferences ?? []));
        pageToken = page.nextPageToken || undefined;
      }
      return found.filter((each) => each.service === service).map(requestOf);
    },

    /** Why Google takes no request for it. Undefined: it takes one. */
    async objection(projectId: string, quotaId: string): Promise<string | undefined> {
      const info = await orUndefined(
        rest<{ quotaIncreaseEligibility?: { isEligible?: boolean; ineligibilityReason?: string } }>(
          'GET',
          `/v1/${parentOf(projectId)}/services/${service}/quotaInfos/${quotaId}`,
          { doing: `read the quota ${quotaId} of ${projectId}` },
        ),
      );
      if (info === undefined) return `Cloud Quotas knows no quota ${quotaId}`;
      // Google leaves out what is false.
      const { isEligible = false, ineligibilityReason = 'no reason given' } = info.quotaIncreaseEligibility ?? {
        isEligible: true,
      };
      return isEligible ? undefined : `Google takes no request for ${quotaId} (${ineligibilityReason})`;
    },

    /** Refused as a conflict if a request stands already. */
    ask: (projectId: string, id: string, wish: QuotaWish) =>
      rest<unknown>('POST', `/v1/${parentOf(projectId)}/quotaPreferences`, {
        doing: `ask for ${wish.preferred} of the quota ${wish.quotaId}`,
        query: { quotaPreferenceId: id },
        body: bodyOf(wish),
      }),

    /** Refused if the request has changed since it was read. */
    askAgain: ({ name, etag }: QuotaRequest, wish: QuotaWish) =>
      rest<unknown>('PATCH', `/v1/${name}`, {
        doing: `ask again for ${wish.preferred} of the quota ${wish.quotaId}`,
        body: { name, ...bodyOf(wish), etag },
      }),
  };
}

const requestOf = ({
  name,
  quotaId,
  dimensions,
  reconciling,
  etag,
  updateTime,
  quotaConfig,
}: Preference): QuotaRequest => ({
  name,
  quotaId,
  region: dimensions?.['region'],
  preferred: Number(quotaConfig.preferredValue ?? 0),
  granted: Number(quotaConfig.grantedValue ?? 0),
  open: reconciling === true,
  answer: quotaConfig.stateDetail || undefined,
  etag,
  version: etag ?? updateTime ?? '',
});
