/** Describes the bootstrap API for its OpenAPI document. */
import * as z from 'zod';
import { healthRoutes, text } from '../../../shared/api.js';
import { bootstrapRoutes } from '../../../shared/bootstrap/routes.js';
import { InstallConfig } from '../../../shared/install-config/config.js';
import type { ApiDescription } from '../openapi/openapi.js';

const EncryptedSecretsFile = z
  .looseObject({
    sops: z
      .looseObject({
        age: z
          .array(
            z.object({
              recipient: text('Public half of the age identity', 'age1…'),
              enc: z.string().meta({ description: 'The data key, encrypted to the recipient' }),
            }),
          )
          .meta({ description: 'To whom it is encrypted' }),
        lastmodified: z.string().meta({ description: 'When it was written' }),
        mac: z.string().meta({ description: 'Proves that nothing was changed by other means' }),
        version: z.string().meta({ description: 'Of SOPS' }),
      })
      .meta({ description: 'What SOPS keeps of it' }),
  })
  .meta({
    id: 'EncryptedSecretsFile',
    description: 'prod.vault.yaml in the form of SOPS: names in clear, values as `ENC[…]`. `sops` and age open it',
  });

export const bootstrapsApi: ApiDescription = {
  title: 'plinth bootstraps',
  description:
    'Throw-away Google Cloud projects for Kubernetes-based platforms: begun, followed, extended and removed. A bootstrap goes on by itself; the same request again resumes it. What the caller may not see answers 404, as if it were not there.',
  tags: {
    Bootstraps: 'Begin bootstraps, look at them, follow them, stop them',
    Files: 'What a bootstrap leaves: the install config, the encrypted secrets, and what opens them',
    Life: 'How long a bootstrap lives, who sees it, whose it is, and its end',
    Operators: 'For operators: what cleanup does and when, and whether new bootstraps are taken',
    Service: 'What the service says of itself and of the caller',
  },
  routes: { ...bootstrapRoutes, ...healthRoutes },
  contents: {
    getConfig: InstallConfig.meta({ id: 'InstallConfig', description: 'config.yaml of one datacenter' }),
    getSecrets: EncryptedSecretsFile,
  },
};
