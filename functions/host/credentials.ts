/** Our identity for Google: the one that the metadata server gives this function. */
import { Compute, type ComputeOptions, GoogleAuth, PassThroughClient } from 'google-auth-library';
import { within } from '../../shared/time-limit.js';
import type { Config } from '../config.js';
import { until } from './until.js';

/** Google's library repeats a request that fails, so this is the limit of them all. */
const tokenSeconds = 20;

/**
 * The service account of a function. On Cloud Run, Google's library sets no time limit for a token, and later calls wait for
 * the same answer. Without a limit, one request without an answer would hold up every call until the process ends.
 */
export class FunctionIdentity extends Compute {
  readonly #milliseconds: number;

  constructor({ answerSeconds, ...options }: ComputeOptions & { readonly answerSeconds?: number | undefined }) {
    super(options);
    this.#milliseconds = (answerSeconds ?? tokenSeconds) * 1000;
  }

  protected override refreshTokenNoCache(): ReturnType<Compute['refreshTokenNoCache']> {
    return within(this.#milliseconds, (signal) => until(signal, () => super.refreshTokenNoCache()));
  }

  override fetchIdToken(audience: string): ReturnType<Compute['fetchIdToken']> {
    return within(this.#milliseconds, (signal) => until(signal, () => super.fetchIdToken(audience)));
  }
}

/** `config.serviceAccount` tells several functions in one process apart. In the cloud, `default` is the function's own. */
export function createGoogleAuth(config: Pick<Config, 'project' | 'serviceAccount'>): GoogleAuth {
  return new GoogleAuth({
    projectId: config.project,
    authClient: new FunctionIdentity({ serviceAccountEmail: config.serviceAccount }),
  });
}

/** For Google's emulators, which ask for no identity. */
export const createNoAuth = (config: Pick<Config, 'project'>): GoogleAuth =>
  new GoogleAuth({ projectId: config.project, authClient: new PassThroughClient() });
