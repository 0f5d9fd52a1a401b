/** docs/use/organizations.md shows the whole life of an organization twice: by the command line, and by curl. Its requests are ones that the API takes. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Route, RouteTable } from '../../shared/api.js';
import { organizationRoutes } from '../../shared/organization/routes.js';

const page = readFileSync('docs/use/organizations.md', 'utf8');
/** From here on somebody reads who has not run what is above. */
const secondPart = page.indexOf('## The same by curl');
const commandsIn = (part: string): string[] => [...part.matchAll(/^\$ (.*)$/gm)].map(([, command = '']) => command);
const [byCommand, byCurl] = [commandsIn(page.slice(0, secondPart)), commandsIn(page.slice(secondPart))];

const organizationId = '0c76afdb-f045-4316-b821-906c04321968';

/** What an admin does in the life of an organization: by the command line, and by curl. */
const deeds = [
  ['creates', /plinth org create/, /\/organizations -d/],
  ['invites', /plinth org invite/, /\/invitations -d/],
  ['accepts', /as bob@\S+ plinth org accept/, /as bob@\S+ api .*\/accept/],
  ['migrates', /plinth team migrate/, /\/migrate /],
  ['sees what moved', /plinth team events/, /\/events/],
  ['undoes', /plinth team undo/, /-X POST .*\/undo/],
  ['leaves', /as bob@\S+ plinth org remove-member/, /as bob@\S+ api -X DELETE/],
  ['deletes', /plinth org delete/, /-X DELETE \S*\/organizations\/\$ORG$/],
  ['takes the delete back', /plinth org restore/, /-X POST .*\/restore/],
] as const;

const routes: RouteTable = organizationRoutes;

interface Request {
  readonly route: Route;
  readonly query: Readonly<Record<string, string>>;
}

/** Variables, `latest` and addresses are parameters of a path. Undefined: there is no such route. */
function requestIn(command: string): Request | undefined {
  const [, url = ''] = /\$PLINTH_ENDPOINT(\/[^\s"]*)/.exec(command) ?? [];
  const [, explicit] = /-X ([A-Z]+)/.exec(command) ?? [];
  const method = explicit ?? (/ -d /.test(command) ? 'POST' : 'GET');
  const [path = '', query = ''] = url.split('?');
  const parts = path.split('/');
  const route = Object.values(routes).find((each) => {
    const own = each.path.split('/');
    const fits = (part: string, i: number): boolean => part === parts[i] || (part.startsWith('{') && parts[i] !== '');
    return each.method === method && own.length === parts.length && own.every(fits);
  });
  return route && { route, query: Object.fromEntries(new URLSearchParams(query.replaceAll('$ORG', organizationId))) };
}

/** The body as bash hands it on. */
function bodyIn(command: string): unknown {
  const [, single, double] = / -d (?:'([^']*)'|"((?:[^"\\]|\\.)*)")/.exec(command) ?? [];
  const text = single ?? double?.replaceAll('\\"', '"').replaceAll('$ORG', organizationId);
  return text === undefined ? undefined : JSON.parse(text);
}

describe('the page of organizations and teams', () => {
  it('shows the same life by the command line and by curl', () => {
    for (const [deed, command, curl] of deeds) {
      expect(
        byCommand.some((each) => command.test(each)),
        `${deed}, by the command line`,
      ).to.equal(true);
      expect(
        byCurl.some((each) => curl.test(each)),
        `${deed}, by curl`,
      ).to.equal(true);
    }
  });

  it('sends by curl only what a route of the API takes', () => {
    const requests = byCurl.filter((command) => /(?:^| )api .*\$PLINTH_ENDPOINT/.test(command));
    expect(requests).to.have.length.above(20);
    const wrong = requests.flatMap((command) => {
      const request = requestIn(command);
      if (request === undefined) return [`${command}: no route`];
      const { route, query } = request;
      const body = bodyIn(command);
      const faults = [
        ...(Object.keys(query).length > 0 && route.query?.safeParse(query).success !== true ? ['query'] : []),
        ...(body !== undefined && route.body?.safeParse(body).success !== true ? ['body'] : []),
      ];
      return faults.map((fault) => `${command}: its ${fault}`);
    });
    expect(wrong).to.deep.equal([]);
  });
});
