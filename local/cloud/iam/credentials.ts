/** IAM Credentials: signs for a service account without a key of its own, with a key that Google keeps. */
import { createSign, createVerify, generateKeyPairSync } from 'node:crypto';
import { type ApiDefinition, GoogleError, type Handler, type World } from '../kernel/api.js';
import { textOf } from '../kernel/json-fields.js';
import { type ServiceAccountRecord, serviceAccounts } from './service-accounts.js';

interface SigningKey {
  readonly keyId: string;
  readonly privateKey: string;
  readonly publicKey: string;
}

/** A key is made on first use, because most worlds sign nothing. */
function keyOf(world: World, email: string): SigningKey {
  const keys = world.table<SigningKey>('iamcredentials.keys');
  const known = keys[email];
  if (known !== undefined) return known;
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const made = { keyId: `${world.id()}${world.id()}`, privateKey, publicKey };
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

const signBlob: Handler = ({ params, body }, world) => {
  const account = accountIn(params['name'] ?? '', world);
  if (account.disabled === true) throw new GoogleError(400, 'FAILED_PRECONDITION', 'The service account is disabled.');
  const payload = Buffer.from(textOf(body['payload']) ?? '', 'base64');
  const { keyId, privateKey } = keyOf(world, account.email);
  return { keyId, signedBlob: createSign('RSA-SHA256').update(payload).sign(privateKey, 'base64') };
};

const method = 'iamcredentials.projects.serviceAccounts.signBlob';

export const iamCredentials: ApiDefinition<'iamcredentials'> = {
  api: 'iamcredentials.v1',
  handlers: { [method]: signBlob },
  access: {
    [method]: ({ params }, world) => {
      const { projectId, email } = accountIn(params['name'] ?? '', world);
      // Google counts the API against the caller's project. Here that is the account's own.
      world.project(projectId, { service: 'iamcredentials.googleapis.com' });
      return [
        { permission: 'iam.serviceAccounts.signBlob', resource: `projects/${projectId}/serviceAccounts/${email}` },
      ];
    },
  },
};
