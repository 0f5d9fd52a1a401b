/** Serves the files of a bootstrap: install config, encrypted secrets and age identity. Takes those that its owner brings. */
import type { bootstrapRoutes } from '../../../shared/bootstrap/routes.js';
import { Problem } from '../../../shared/problems.js';
import { beginUpload, recordAction } from '../../bootstraps/files.js';
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import { readFile } from '../../engine/record/files.js';
import { createStepSecrets } from '../../engine/run/step-secrets.js';
import { registerHere } from '../../host/redaction.js';
import { ageIdentity, ageIdentitySecret } from '../../steps/config/age-identity.js';
import { countChange } from '../rate-limit.js';
import type { Handlers } from '../router.js';
import type { Access } from './access.js';

type Routes = Pick<typeof bootstrapRoutes, 'getConfig' | 'getSecrets' | 'readAgeIdentity' | 'beginUpload'>;

export function fileHandlers(context: Context, { visible, owned, changing }: Access): Handlers<Routes> {
  async function fileOf(kind: 'config' | 'secrets', { id, data }: StoredBootstrap, datacenter: string) {
    if (datacenter === 'dc2' && data.options['multiDc'] !== true) {
      throw new Problem('not-found', 'The bootstrap has one datacenter, dc1.');
    }
    const body = await readFile(context, id, `${kind}-${datacenter}`);
    if (body === undefined) throw notYet(`The ${kind} of ${datacenter}`);
    return { status: 200, headers: { 'content-type': 'text/yaml; charset=utf-8' }, body };
  }

  return {
    getConfig: async ({ caller, params, query }) =>
      fileOf('config', await visible(params.id, caller), query.datacenter),
    getSecrets: async ({ caller, params, query }) =>
      fileOf('secrets', await owned(params.id, caller), query.datacenter),

    async readAgeIdentity({ caller, params: { id } }) {
      const identity = await ageIdentityOf(context, await changing.owned(id, caller));
      if (identity === undefined) throw notYet('The age identity');
      // The record names the reader before they get the identity.
      await recordAction(context, id, caller.email, 'age-identity');
      return { status: 200, body: { identity } };
    },

    async beginUpload({ caller, params: { id, sha256 } }) {
      const found = await changing.owned(id, caller);
      await countChange(context, caller);
      return { status: 200, body: await beginUpload(context, found, sha256) };
    },
  };
}

/** Undefined until its step is done. */
async function ageIdentityOf(context: Context, { id, data }: StoredBootstrap): Promise<string | undefined> {
  const output = data.instances[ageIdentity.name]?.output;
  if (output === undefined) return undefined;
  const { secretVersion } = ageIdentity.output.parse(output);
  return createStepSecrets(context, id, undefined, registerHere).read(ageIdentitySecret, secretVersion);
}

const notYet = (what: string): Problem =>
  new Problem('conflict', `${what} is not made yet.`, {
    retryAfterSeconds: 5,
    advice: 'Ask again when its step is done.',
  });
