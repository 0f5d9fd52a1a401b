/** A service that plays plinth, and a person at a computer of their own. */
import { createSandbox, type Sandbox } from './run-cli.js';
import { createService, type Service } from './service.js';

interface Used {
  readonly service: Service;
  readonly sandbox: Sandbox;
}

/** In a `describe`: both are new for each test. `standing`: the service has one bootstrap already. */
export function useService(given: (each: Used) => void, state?: 'standing'): void {
  let used: Used;
  beforeEach(async () => {
    const service = await createService();
    service.standing = state === 'standing';
    used = { service, sandbox: createSandbox(service.url) };
    given(used);
  });
  afterEach(async () => {
    used.sandbox.remove();
    await used.service.close();
  });
}
