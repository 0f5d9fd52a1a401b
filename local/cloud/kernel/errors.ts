/** Writes errors as each API sends them, and holds the refusals that all APIs share. */
import { type Access, type ErrorForm, GoogleError, type JsonObject } from './api.js';

const legacyReasons: Readonly<Record<number, string>> = {
  400: 'badRequest',
  401: 'authError',
  403: 'forbidden',
  404: 'notFound',
  409: 'alreadyExists',
  412: 'conditionNotMet',
  429: 'rateLimitExceeded',
  500: 'backendError',
  503: 'backendError',
};

/** Google's front ends send a status with their refusals in every API, including compute. */
const fromFrontEnd = (error: GoogleError): boolean =>
  error.code === 401 || (error.more.details ?? []).some(({ reason }) => reason === 'SERVICE_DISABLED');

export function errorBody(form: ErrorForm, error: GoogleError): JsonObject {
  const { reason, domain = 'global', location, details, also = [] } = error.more;
  const errors = [error.message, ...also].map((message) => ({
    message,
    domain,
    reason: reason ?? legacyReasons[error.code] ?? 'unknown',
    ...(location === undefined ? {} : { location, locationType: 'parameter' }),
  }));
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(form === 'platform' ? {} : { errors }),
      ...(form === 'legacy' && !fromFrontEnd(error) ? {} : { status: error.status }),
      ...(details === undefined ? {} : { details }),
    },
  };
}

/** Without details, as most services answer. */
export const badInput = (message: string): GoogleError => new GoogleError(400, 'INVALID_ARGUMENT', message);

export const badRequest = (message: string, field: string, description = message): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', message, {
    reason: 'badRequest',
    details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field, description }] }],
  });

export const errorInfo = (reason: string, domain: string, metadata: Record<string, string> = {}): JsonObject => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain,
  metadata,
});

const signIn = 'See https://developers.google.com/identity/sign-in/web/devconsole-project.';
const wanted = 'Expected OAuth 2 access token, login cookie or other valid authentication credential.';

export const credentialsMissing = (): GoogleError =>
  new GoogleError(
    401,
    'UNAUTHENTICATED',
    `Request is missing required authentication credential. ${wanted} ${signIn}`,
    {
      reason: 'required',
      details: [errorInfo('CREDENTIALS_MISSING', 'googleapis.com')],
    },
  );

export const credentialsInvalid = (): GoogleError =>
  new GoogleError(401, 'UNAUTHENTICATED', `Request had invalid authentication credentials. ${wanted} ${signIn}`, {
    reason: 'authError',
    details: [errorInfo('ACCESS_TOKEN_TYPE_UNSUPPORTED', 'googleapis.com')],
  });

/** The API is off in the project, or enabling it has not propagated yet. Google sends the same error for both. */
export function serviceDisabled(service: string, title: string, projectNumber: string): GoogleError {
  const url = `https://console.developers.google.com/apis/api/${service}/overview?project=${projectNumber}`;
  return new GoogleError(
    403,
    'PERMISSION_DENIED',
    `${title} has not been used in project ${projectNumber} before or it is disabled. Enable it by visiting ${url} then retry. If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.`,
    {
      reason: 'accessNotConfigured',
      domain: 'usageLimits',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.Help',
          links: [{ description: 'Google developers console API activation', url }],
        },
        {
          '@type': 'type.googleapis.com/google.rpc.LocalizedMessage',
          locale: 'en-US',
          message: `${title} has not been used in project ${projectNumber} before or it is disabled.`,
        },
        errorInfo('SERVICE_DISABLED', 'googleapis.com', {
          service,
          serviceTitle: title,
          consumer: `projects/${projectNumber}`,
          containerInfo: projectNumber,
          activationUrl: url,
        }),
      ],
    },
  );
}

/** The answer of most APIs to a caller who lacks a permission. */
export const permissionDenied = ({ permission, resource }: Access): GoogleError =>
  deniedOn(`resource '//${domainOf(permission)}/${resource}'`, { permission, resource });

/** The usual refusal, with other words for the resource. */
export const deniedOn = (where: string, { permission, resource }: Access): GoogleError =>
  new GoogleError(403, 'PERMISSION_DENIED', `Permission '${permission}' denied on ${where} (or it may not exist).`, {
    reason: 'forbidden',
    details: [errorInfo('IAM_PERMISSION_DENIED', domainOf(permission), { permission, resource })],
  });

/** The refusal of APIs that do not name the permission. */
export const deniedPlainly = (): GoogleError =>
  new GoogleError(403, 'PERMISSION_DENIED', 'The caller does not have permission');

const domainOf = (permission: string): string => {
  const [service = ''] = permission.split('.');
  return `${service === 'resourcemanager' ? 'cloudresourcemanager' : service}.googleapis.com`;
};

/** The reason of refusals that are the simulation's own. Google never sends it. */
const simulatorLimit = 'SIMULATOR_LIMIT';

/** The refusal of what Google has and the simulation lacks: `method compute.acceleratorTypes.list`. */
export const notSimulated = (what: string): GoogleError =>
  new GoogleError(501, 'UNIMPLEMENTED', `The simulated cloud has no ${what}.`, {
    reason: simulatorLimit,
    details: [errorInfo(simulatorLimit, 'plinth.local', { what })],
  });

/** `FAILED_PRECONDITION`, with what is violated. */
export const preconditionFailed = (
  message: string,
  violation: { readonly type: string; readonly subject: string; readonly description: string },
  more: readonly JsonObject[] = [],
): GoogleError =>
  new GoogleError(400, 'FAILED_PRECONDITION', message, {
    reason: 'failedPrecondition',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.PreconditionFailure', violations: [{ ...violation }] },
      ...more,
    ],
  });

export const quotaFailure = (subject: string, description: string): JsonObject => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ subject, description }],
});
