/** Wraps Secret Manager in plinth's own project, which holds all secrets. Each is read by its version number. */

import { Problem } from '../../shared/problems.js';
import { isHidden, orUndefined } from './errors.js';
import { createRest, type Rest, type Transport } from './rest.js';

const maxPayloadBytes = 64 * 1024;

interface Version {
  /** `projects/…/secrets/…/versions/<number>` */
  readonly name: string;
  readonly state?: string;
}

const numberOf = ({ name }: Version): string => name.split('/').at(-1) ?? '';

export function createSecretManager(transport: Transport) {
  const rest = createRest(transport, 'secretmanager');
  const secrets = `/v1/projects/${transport.config.project}/secrets`;

  const create = async (secretId: string, labels: Readonly<Record<string, string>>) => {
    try {
      await rest('POST', secrets, {
        doing: `create the secret ${secretId}`,
        query: { secretId },
        body: { replication: { automatic: {} }, labels },
      });
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'cloud-conflict')) throw error;
    }
  };

  return {
    ...createVersions(rest, secrets),

    /** Adds a version, and makes the secret first if necessary. Returns the version's number. At most 64 KiB. */
    async write(secretId: string, payload: string, labels: Readonly<Record<string, string>> = {}): Promise<string> {
      const bytes = Buffer.from(payload, 'utf8');
      if (bytes.length > maxPayloadBytes) {
        throw new Problem('payload-too-large', `The secret ${secretId} has ${bytes.length} bytes; 65536 at most.`);
      }
      const add = () =>
        orUndefined(
          rest<Version>('POST', `${secrets}/${secretId}:addVersion`, {
            doing: `write the secret ${secretId}`,
            body: { payload: { data: bytes.toString('base64') } },
          }),
        );
      const added = await add();
      if (added !== undefined) return numberOf(added);
      await create(secretId, labels);
      const version = await add();
      if (version === undefined) {
        throw new Problem('cloud-propagation', `The secret ${secretId} was made and cannot be written to yet.`);
      }
      return numberOf(version);
    },

    /** Those of these permissions that plinth has on the secret. Google answers none for a secret that is not there. */
    async held(secretId: string, permissions: readonly string[]): Promise<readonly string[]> {
      const path = `${secrets}/${secretId}:testIamPermissions`;
      const doing = `ask what plinth may do with the secret ${secretId}`;
      const asked = rest<{ permissions?: string[] }>('POST', path, { doing, body: { permissions } });
      return (await orUndefined(asked))?.permissions ?? [];
    },

    /** Deletes the secret with all its versions. Succeeds if there is none. */
    async remove(secretId: string): Promise<void> {
      await orUndefined(rest('DELETE', `${secrets}/${secretId}`, { doing: `delete the secret ${secretId}` }));
    },
  };
}

/** Reads and destroys versions. `secrets` is the path of the collection. */
function createVersions(rest: Rest, secrets: string) {
  const versionsOf = async (secretId: string): Promise<string[]> => {
    const versions: Version[] = [];
    let pageToken: string | undefined;
    do {
      const page: { versions?: Version[]; nextPageToken?: string } | undefined = await orUndefined(
        rest('GET', `${secrets}/${secretId}/versions`, {
          doing: `list the versions of the secret ${secretId}`,
          query: { filter: 'state:ENABLED', pageToken },
        }),
      );
      versions.push(...(page?.versions ?? []).filter(({ state }) => state === 'ENABLED'));
      pageToken = page?.nextPageToken;
    } while (pageToken !== undefined && pageToken !== '');
    return versions.map(numberOf).sort((a, b) => Number(a) - Number(b));
  };

  const read = async (secretId: string, version: string): Promise<string> => {
    const { payload } = await rest<{ payload?: { data?: string } }>(
      'GET',
      `${secrets}/${secretId}/versions/${version}:access`,
      { doing: `read version ${version} of the secret ${secretId}` },
    );
    return Buffer.from(payload?.data ?? '', 'base64').toString('utf8');
  };

  return {
    /**
     * The lowest enabled version. The first writer wins, because Secret Manager has no compare-and-set. Only a read by number
     * sees a write at once, while lists lag behind (https://cloud.google.com/secret-manager/docs/add-secret-version). Numbers
     * begin at 1 and are never reused. So without a version 1 there is none. A list is necessary only if version 1 was
     * disabled or destroyed.
     */
    async find(secretId: string): Promise<string | undefined> {
      try {
        return (await orUndefined(read(secretId, '1'))) === undefined ? undefined : '1';
      } catch (error) {
        const isOff = error instanceof Problem && error.members?.['cloudStatus'] === 'FAILED_PRECONDITION';
        if (!isOff) throw error;
        return (await versionsOf(secretId))[0];
      }
    },

    /** Numbers of the enabled versions, oldest first. None if there is no such secret. */
    versions: versionsOf,

    read,

    /** Whether plinth may read a secret that is not there, by its name alone: Google looks at the right first. */
    mayRead: (secretId: string): Promise<boolean> => isAllowed(read(secretId, '1')),
    mayList: (secretId: string): Promise<boolean> => isAllowed(versionsOf(secretId)),

    /** Removes the payload for good. The version keeps its number. Succeeds if there is no such secret, as `remove` does. */
    async destroy(secretId: string, version: string): Promise<void> {
      await orUndefined(
        rest('POST', `${secrets}/${secretId}/versions/${version}:destroy`, {
          doing: `destroy version ${version} of the secret ${secretId}`,
          body: {},
        }),
      );
    },
  };
}

/** False for a refusal. True for an answer, or if there is no such secret. */
async function isAllowed(asked: Promise<unknown>): Promise<boolean> {
  try {
    await orUndefined(asked);
    return true;
  } catch (error) {
    if (isHidden(error)) return false;
    throw error;
  }
}
