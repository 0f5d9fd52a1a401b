/**
 * The login of this process by OS Login, as the function's own service account. The key pair is made in memory and stored
 * nowhere. Its public half is in the account's profile for half an hour at a time.
 *
 * A key in a profile belongs to the account, so it opens every machine that the account may log in to. A key for each bootstrap
 * would keep nothing apart, and 1,000 of them would not fit in a profile. There are as many keys as instances of the function.
 */
import { openSshPair } from '../../shared/openssh.js';
import { Problem } from '../../shared/problems.js';
import type { Cloud } from '../cloud/index.js';
import type { Config } from '../config.js';
import type { KeyMaker } from './keys.js';

interface OsLoginIdentity {
  /** `sa_<number>` for a service account. */
  readonly user: string;
  /** In OpenSSH's form. */
  readonly privateKey: string;
}

export interface OsLogin {
  /** Imports the key unless it holds for a quarter of an hour yet. */
  identity(): Promise<OsLoginIdentity>;
  /** A machine refused it: the next call imports it again. */
  doubt(): void;
  /** Takes the key out of the profile. If that fails, it ends by itself. */
  close(): Promise<void>;
}

interface OsLoginParts {
  readonly config: Pick<Config, 'serviceAccount' | 'project'>;
  readonly cloud: Pick<Cloud, 'osLogin'>;
  readonly keys: KeyMaker;
  readonly clock: { now(): Date };
}

const lifeSeconds = 1800;
/** A login takes less, and a connection that stands needs no key. */
const leastSeconds = 900;

interface Imported extends OsLoginIdentity {
  readonly fingerprint: string | undefined;
  readonly until: number;
}

export function createOsLoginIdentity({ config, cloud, keys, clock }: OsLoginParts): OsLogin {
  const { serviceAccount, project } = config;
  let pair: Promise<{ readonly privateKey: string; readonly publicKey: string }> | undefined;
  let imported: Promise<Imported> | undefined;

  const makePair = async () => openSshPair((await keys.make('ed25519')).privateKey, 'plinth');

  async function importKey(): Promise<Imported> {
    pair ??= makePair();
    const { privateKey, publicKey } = await pair;
    const until = clock.now().getTime() + lifeSeconds * 1000;
    // Of plinth's own project: one POSIX user serves the machines of all projects.
    const { user, fingerprint } = await cloud.osLogin
      .importKey(serviceAccount, project, publicKey, new Date(until))
      .catch(fullProfile);
    if (user === undefined) {
      throw new Problem('cloud-propagation', `OS Login names no POSIX user for ${serviceAccount} yet.`);
    }
    return { user, privateKey, fingerprint, until };
  }

  const isFresh = ({ until }: Imported): boolean => until - clock.now().getTime() > leastSeconds * 1000;

  function begin(): Promise<Imported> {
    const begun = importKey();
    imported = begun;
    begun.catch(() => {
      if (imported === begun) imported = undefined;
    });
    return begun;
  }

  return {
    async identity() {
      const known = await imported;
      const { user, privateKey } = known !== undefined && isFresh(known) ? known : await begin();
      return { user, privateKey };
    },
    doubt() {
      imported = undefined;
    },
    async close() {
      const known = await imported?.catch(() => undefined);
      imported = undefined;
      if (known?.fingerprint !== undefined) await cloud.osLogin.removeKey(serviceAccount, known.fingerprint);
    },
  };
}

function fullProfile(error: unknown): never {
  if (!(error instanceof Problem) || !error.detail.includes('32 KiB')) throw error;
  throw new Problem('cloud-quota', error.detail, {
    advice:
      'Keys of plinth end by themselves within half an hour. Take the keys of others out of the profile of run-host-step, or lower max_instances of run-host-step. Then run the same command again.',
    cause: error,
  });
}
