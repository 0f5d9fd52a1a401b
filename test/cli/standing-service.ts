/** A service with one bootstrap that stands, and a person at a computer of their own. */
import type { Sandbox } from './run-cli.js';
import { json, makeView, type Service } from './service.js';
import { useService } from './use-service.js';

export interface StandingService {
  readonly service: Service;
  readonly sandbox: Sandbox;
  /** How often the change was asked for. */
  asked(): number;
}

/** In a `describe`: new for each test. `change` is the last part of the path that is posted to, and answered with `view`. */
export function useStandingService(change: string, view: Parameters<typeof makeView>[0]): StandingService {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
    service.instead.set(`POST /bootstraps/b-one/${change}`, [(response) => json(response, 200, makeView(view))]);
  }, 'standing');
  return {
    get service() {
      return service;
    },
    get sandbox() {
      return sandbox;
    },
    asked: () => service.seen.filter(({ path }) => path.endsWith(`/${change}`)).length,
  };
}
