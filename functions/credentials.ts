/** Who we are to Google: the identity that the metadata server gives this function. Called by the store and the publisher. */
import { Compute, GoogleAuth } from 'google-auth-library';
import type { Config } from './config.js';

/** `config.serviceAccount` tells several functions in one process apart; in the cloud `default` is the function's own. */
export function createGoogleAuth(config: Pick<Config, 'project' | 'serviceAccount'>): GoogleAuth {
  return new GoogleAuth({
    projectId: config.project,
    authClient: new Compute({ serviceAccountEmail: config.serviceAccount }),
  });
}
