/** IAM Credentials: tokens and signatures of a service account, for whoever may act as it. */
import { createSign, createVerify, generateKeyPairSync } from 'node:crypto';
import { accessTokenOf, type IdentityKeys, idTokenBy } from '../../identity/identity.js';
import { type ApiDefinition, type CloudCall, GoogleError, type Handler, type World } from '../kernel/api.js';
import { badRequest, notSimulated } from '../kernel/errors.js';
import { textOf, textsOf } from '../kernel/json-fields.js';
import { type ServiceAccountRecord, serviceAccounts } from './service-accounts.js';

interface SigningKey {
  readonly keyId: string;
  readonly privateKey: string;
  readonly publicKey: string;
}

/** The n-th key of each world of this process. */
const pairs: Pick<SigningKey, 'privateKey' | 'publicKey'>[] = [];

const newPair = (): Pick<SigningKey, 'privateKey' | 'publicKey'> =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });

/** A key is made on first use, because most worlds sign nothing, and one takes a fifth of a second. */
function keyOf(world: World, email: string): SigningKey {
  const keys = world.table<SigningKey>('iamcredentials.keys');
  const known = keys[email];
  if (known !== undefined) return known;
  const nth = Object.keys(keys).length;
  const pair = pairs[nth] ?? newPair();
  pairs[nth] = pair;
  const made = { keyId: `${world.id()}${world.id()}`, ...pair };
  keys[email] = made;
  return made;
}

/** Verifies a signature, such as that of a signed URL of Cloud Storage. */
export function isSignedBy(world: World, email: string, text: string, signature: Buffer): boolean {
  if (serviceAccounts(world)[email] === undefined) return false;
  return createVerify('RSA-SHA256').update(text).verify(keyOf(world, email).publicKey, signature);
}

function accountIn(name: string, world: World): ServiceAccountRecord {
  const [, project, , email = ''] = name.split('/');
  const account = serviceAccounts(world)[email];
  if (project !== '-') {
    throw new GoogleError(400, 'INVALID_ARGUMENT', `The resource name must be projects/-/serviceAccounts/${email}.`);
  }
  if (account === undefined || account.usableAt > world.now()) {
    throw new GoogleError(404, 'NOT_FOUND', `Not found; Gaia id not found for email ${email}`);
  }
  return account;
}

function usableAccountIn({ params }: CloudCall, world: World): ServiceAccountRecord {
  const account = accountIn(params['name'] ?? '', world);
  if (account.disabled === true) throw new GoogleError(400, 'FAILED_PRECONDITION', 'The service account is disabled.');
  return account;
}

const signBlob: Handler = (call, world) => {
  const account = usableAccountIn(call, world);
  const payload = Buffer.from(textOf(call.body['payload']) ?? '', 'base64');
  const { keyId, privateKey } = keyOf(world, account.email);
  return { keyId, signedBlob: createSign('RSA-SHA256').update(payload).sign(privateKey, 'base64') };
};

const longestLife = 3600;

/** `3600s`, or the default. */
function lifeIn(text: string | undefined): number {
  if (text === undefined || text === '') return longestLife;
  const seconds = /^\d+(\.\d+)?s$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (seconds > 0 && seconds <= longestLife) return seconds;
  throw badRequest('Request contains an invalid argument.', 'lifetime', 'It must be at most 3600s.');
}

const generateAccessToken: Handler = (call, world) => {
  const { email } = usableAccountIn(call, world);
  if (textsOf(call.body['scope']).length === 0) throw badRequest('Request contains an invalid argument.', 'scope');
  if (textsOf(call.body['delegates']).length > 0) throw notSimulated('delegates of service accounts');
  const seconds = lifeIn(textOf(call.body['lifetime']));
  const { secret = '' } = world.table('identity') as IdentityKeys;
  return {
    accessToken: accessTokenOf(secret, email, Math.floor(world.now() / 1000) + seconds),
    expireTime: new Date(world.now() + seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
  };
};

/** plinth knows callers by their e-mail, so a token without it is not made here. */
const generateIdToken: Handler = async (call, world) => {
  const { email } = usableAccountIn(call, world);
  const audience = textOf(call.body['audience']) ?? '';
  if (audience === '') throw badRequest('Request contains an invalid argument.', 'audience');
  if (textsOf(call.body['delegates']).length > 0) throw notSimulated('delegates of service accounts');
  if (call.body['includeEmail'] !== true) throw notSimulated('ID tokens without an e-mail');
  if (call.body['organizationNumberIncluded'] === true) throw notSimulated('ID tokens with an organization');
  return { token: await idTokenBy(world.table('identity') as IdentityKeys, { email, audience }, world.now()) };
};

const methodOf = (verb: string) => `iamcredentials.projects.serviceAccounts.${verb}`;

/** Google counts the API against the caller's project. Here that is the account's own. */
const needs =
  (permission: string): NonNullable<ApiDefinition['access']>[string] =>
  ({ params }, world) => {
    const { projectId, email } = accountIn(params['name'] ?? '', world);
    world.project(projectId, { service: 'iamcredentials.googleapis.com' });
    return [{ permission, resource: `projects/${projectId}/serviceAccounts/${email}` }];
  };

export const iamCredentials: ApiDefinition<'iamcredentials'> = {
  api: 'iamcredentials.v1',
  handlers: {
    [methodOf('signBlob')]: signBlob,
    [methodOf('generateAccessToken')]: generateAccessToken,
    [methodOf('generateIdToken')]: generateIdToken,
  },
  access: {
    [methodOf('signBlob')]: needs('iam.serviceAccounts.signBlob'),
    [methodOf('generateAccessToken')]: needs('iam.serviceAccounts.getAccessToken'),
    [methodOf('generateIdToken')]: needs('iam.serviceAccounts.getOpenIdToken'),
  },
};
