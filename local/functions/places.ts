/** Where each function is on the one origin that all of them share. */
import { descriptionRoutes } from '../../shared/api.js';
import { consoleRoutes } from '../../shared/console/routes.js';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { organizationRoutes } from '../../shared/organization/routes.js';

/** Functions that serve an API, each with the paths of its routes. */
export const apiFunctions: readonly FunctionName[] = [functionNames.bootstraps, functionNames.api];

export const functionPath = (name: FunctionName): string => `/_functions/${name}`;

const firstSegment = (path: string): string => path.split('/', 2)[1] ?? '';
const ofOrganizations = new Set(
  Object.values({ ...organizationRoutes, ...descriptionRoutes, ...consoleRoutes }).map(({ path }) =>
    firstSegment(path),
  ),
);
/** The API that serves a path of the shared origin. */
const apiOf = (path: string): FunctionName =>
  ofOrganizations.has(firstSegment(path)) ? functionNames.api : functionNames.bootstraps;

interface Place {
  readonly name: FunctionName;
  /** The URL as the function sees it: deployed functions are at the root of their own origin. */
  readonly url: string;
  /** The function serves no API, but does work. */
  readonly works: boolean;
}

/** The function that serves a URL of the shared origin. */
export function placeOf(url: string): Place {
  // No parsing: the function itself answers a malformed path.
  const [pathname = '/'] = url.split('?', 1);
  const name = Object.values(functionNames).find(
    (each) => !apiFunctions.includes(each) && pathname === functionPath(each),
  );
  return name === undefined
    ? { name: apiOf(pathname), url, works: false }
    : { name, url: `/${url.slice(pathname.length)}`, works: true };
}
