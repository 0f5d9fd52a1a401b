/** A redactor that has read these secrets. */
import { createSecretRedactor, type SecretRedactor } from '../../shared/secret-redactor.js';

export function redactorOf(...secrets: readonly string[]): SecretRedactor {
  const redactor = createSecretRedactor();
  for (const secret of secrets) redactor.register(secret);
  return redactor;
}
