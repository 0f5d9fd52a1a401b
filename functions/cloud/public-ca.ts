/** Wraps Google's Public CA: credentials that bind an ACME account to a Google account. */
import { createRest, type Transport } from './rest.js';

export interface ExternalAccountKey {
  readonly keyId: string;
  /** base64url, as ACME clients take it. */
  readonly macKey: string;
}

export function createPublicCa(transport: Transport) {
  const rest = createRest(transport, 'publicca');
  return {
    /** Each call makes another key. A key that nobody uses for 7 days expires. */
    async createKey(projectId: string): Promise<ExternalAccountKey> {
      const { keyId, b64MacKey } = await rest<{ keyId: string; b64MacKey: string }>(
        'POST',
        `/v1/projects/${projectId}/locations/global/externalAccountKeys`,
        { doing: `obtain ACME account credentials for ${projectId}`, body: {} },
      );
      // The API's bytes field holds the base64url text of the key, so it is encoded twice.
      return { keyId, macKey: Buffer.from(b64MacKey, 'base64').toString('utf8') };
    },
  };
}
