/** Our identity for Google: the one that the metadata server gives this function. */
import { Compute, GoogleAuth, PassThroughClient } from 'google-auth-library';
import type { Config } from '../config.js';

/** `config.serviceAccount` tells several functions in one process apart. In the cloud, `default` is the function's own. */
export function createGoogleAuth(config: Pick<Config, 'project' | 'serviceAccount'>): GoogleAuth {
  return new GoogleAuth({
    projectId: config.project,
    authClient: new Compute({ serviceAccountEmail: config.serviceAccount }),
  });
}

/** For Google's emulators, which ask for no identity. */
export const createNoAuth = (config: Pick<Config, 'project'>): GoogleAuth =>
  new GoogleAuth({ projectId: config.project, authClient: new PassThroughClient() });
