/** Wraps OS Login: the public keys by which plinth's own account logs in to VMs. */
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

interface LoginProfile {
  readonly posixAccounts?: readonly {
    readonly username?: string;
    readonly primary?: boolean;
    readonly operatingSystemType?: string;
  }[];
  /** By fingerprint. */
  readonly sshPublicKeys?: Readonly<Record<string, { readonly key?: string }>>;
}

interface ImportedKey {
  /** The user on Linux machines. */
  readonly user: string | undefined;
  /** By which the profile names the key. */
  readonly fingerprint: string | undefined;
}

export function createOsLogin(transport: Transport) {
  const rest = createRest(transport, 'oslogin');
  return {
    /**
     * `publicKey` is `<type> <base64> [comment]`. A key that is there already gets the new end. `projectId` tells where the
     * POSIX user belongs. Google keeps one for each project that is ever named, all in one profile of 32 KiB.
     */
    async importKey(email: string, projectId: string, publicKey: string, expiresAt: Date): Promise<ImportedKey> {
      const { loginProfile } = await rest<{ readonly loginProfile?: LoginProfile }>(
        'POST',
        `/v1/users/${encodeURIComponent(email)}:importSshPublicKey`,
        {
          doing: `import an SSH key for ${email} to OS Login`,
          query: { projectId },
          body: { key: publicKey, expirationTimeUsec: String(expiresAt.getTime() * 1000) },
        },
      );
      const accounts = (loginProfile?.posixAccounts ?? []).filter(
        ({ operatingSystemType = 'LINUX' }) => operatingSystemType !== 'WINDOWS',
      );
      const isOurs = ({ key }: { readonly key?: string }): boolean => key?.trim() === publicKey.trim();
      const [fingerprint] = Object.entries(loginProfile?.sshPublicKeys ?? {}).find(([, each]) => isOurs(each)) ?? [];
      return { user: (accounts.find(({ primary }) => primary === true) ?? accounts[0])?.username, fingerprint };
    },

    /** A key that is gone is fine. */
    async removeKey(email: string, fingerprint: string): Promise<void> {
      await orUndefined(
        rest('DELETE', `/v1/users/${encodeURIComponent(email)}/sshPublicKeys/${fingerprint}`, {
          doing: `remove an SSH key of ${email} from OS Login`,
        }),
      );
    },
  };
}
