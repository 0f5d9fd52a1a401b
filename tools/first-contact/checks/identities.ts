/** Accounts, tokens and policies: when they count, and what is refused. */
import { invitedPermissions } from '../../../shared/bootstrap/invited.js';
import { type Bench, type Check, differs, heldIf, type Tree, unknown } from '../check.js';
import { swapped } from '../redact.js';

export const accounts = { node: 'cloud-controller', prober: 'first-contact-prober' } as const;

export const emailOf = ({ project }: Pick<Bench, 'project'>, name: keyof typeof accounts): string =>
  `${accounts[name]}@${project}.iam.gserviceaccount.com`;

const scope = ['https://www.googleapis.com/auth/cloud-platform'];

const tokenOf = ({ ask }: Bench, email: string, lifetime = '3600s') =>
  ask('iamcredentials', `POST /v1/projects/-/serviceAccounts/${email}:generateAccessToken`, { scope, lifetime });

async function idTokenFor(bench: Bench, audience: string): Promise<string> {
  const line = `POST /v1/projects/-/serviceAccounts/${emailOf(bench, 'prober')}:generateIdToken`;
  const { body } = await bench.ask('iamcredentials', line, { audience, includeEmail: true });
  return String(body['token']);
}

/** Waits until the caller may speak as the account. */
async function speakAs(bench: Bench, name: keyof typeof accounts) {
  const seen = new Set<number>();
  const got = await bench.until(480, async () => {
    const { status, body } = await tokenOf(bench, emailOf(bench, name));
    if (status !== 200) seen.add(status);
    return status === 200 ? String(body['accessToken']) : undefined;
  });
  if (got === undefined) return differs(`still refused after eight minutes: ${[...seen].join(', ')}`);
  bench.facts.set(`${name}-token`, got.value);
  const refused = [...seen].every((status) => status === 403);
  return heldIf(refused && got.seconds <= 420, `after ${got.seconds} s, before: ${[...seen].join(', ') || 'nothing'}`);
}

const made = (name: keyof typeof accounts, what: string): Check => ({
  id: `accounts.${name}`,
  believes: `The account of ${what} can be read within a minute of its making, and is missing or refused before.`,
  source: 'documented',
  makes: 'a service account',
  needs: ['services.each-api'],
  async run(bench) {
    const { email } = await bench.cloud.iam.create(bench.project, accounts[name], 'First contact');
    const line = `GET /v1/projects/${bench.project}/serviceAccounts/${email}`;
    const seen = new Set<number>();
    const there = await bench.until(120, async () => {
      const { status } = await bench.ask('iam', line);
      if (status !== 200) seen.add(status);
      return status === 200 ? true : undefined;
    });
    if (there === undefined) return differs(`not there after two minutes: ${[...seen].join(', ')}`);
    const usual = [...seen].every((status) => status === 404 || status === 403);
    return heldIf(
      usual && there.seconds <= 60,
      `after ${there.seconds} s, before: ${[...seen].join(', ') || 'nothing'}`,
    );
  },
});

const policyOf = ({ ask, project }: Bench) =>
  ask('cloudresourcemanager', `POST /v3/projects/${project}:getIamPolicy`, { options: { requestedPolicyVersion: 3 } });

/** The policy of the prober's own account: nobody needs it. */
const ofProber = (bench: Bench) => `/v1/projects/${bench.project}/serviceAccounts/${emailOf(bench, 'prober')}`;

export const identityChecks: readonly Check[] = [
  made('node', 'the nodes'),
  made('prober', 'a second identity'),
  {
    id: 'policies.bind-new-account',
    believes: 'An account that was just made can be bound within a minute; before, the answer is 400.',
    source: 'reported',
    needs: ['accounts.prober', 'projects.owner'],
    async run({ cloud, project, fact, facts, signal }) {
      const grants = [
        { member: fact('caller'), role: 'roles/iam.serviceAccountTokenCreator' },
        { member: `serviceAccount:${emailOf({ project }, 'prober')}`, role: 'roles/compute.viewer' },
      ];
      const policy = cloud.projects.policy(project);
      await policy.grant(grants, signal);
      const missing = await policy.missing(grants);
      facts.set('granted', 'yes');
      return heldIf(
        missing.length === 0,
        missing.length === 0 ? 'bound by the first call' : 'not shown after the call',
      );
    },
  },
  {
    id: 'grants.impersonation',
    believes: 'A grant counts within seven minutes, and the answer is 403 before.',
    source: 'documented',
    needs: ['policies.bind-new-account'],
    run: (bench) => speakAs(bench, 'prober'),
  },
  {
    id: 'grants.node-impersonation',
    believes: 'Once a grant on the project counts for one account, it counts for the others, too.',
    source: 'believed',
    needs: ['grants.impersonation', 'accounts.node'],
    run: (bench) => speakAs(bench, 'node'),
  },
  {
    id: 'tokens.life',
    believes: 'An access token of an account lasts as long as asked for, an hour at most.',
    source: 'documented',
    needs: ['grants.impersonation'],
    async run(bench) {
      const short = await tokenOf(bench, emailOf(bench, 'prober'), '600s');
      const long = await tokenOf(bench, emailOf(bench, 'prober'), '7200s');
      const life = Math.round((Date.parse(String(short.body['expireTime'])) - Date.now()) / 1000);
      return heldIf(life > 500 && life <= 660 && long.status === 400, `${life} s; two hours: ${long.status}`);
    },
  },
  {
    id: 'tokens.audience',
    believes: 'An ID token of an account bears the audience that was asked for, and the e-mail if asked for.',
    source: 'documented',
    needs: ['grants.impersonation'],
    async run(bench) {
      const audience = 'https://first-contact.example.com/custom';
      const line = `POST /v1/projects/-/serviceAccounts/${emailOf(bench, 'prober')}:generateIdToken`;
      const { status, body, message } = await bench.ask('iamcredentials', line, { audience, includeEmail: true });
      if (status !== 200) return differs(`${status} ${message}`);
      const claims = JSON.parse(Buffer.from(String(body['token']).split('.')[1] ?? '', 'base64url').toString()) as Tree;
      const holds = claims['aud'] === audience && claims['email'] === emailOf(bench, 'prober');
      return heldIf(
        holds,
        `aud is ${claims['aud'] === audience ? 'as asked' : 'another'}, email_verified is ${String(claims['email_verified'])}`,
      );
    },
  },
  {
    id: 'grants.role-on-project',
    believes: 'A role on a new project counts within seven minutes of its grant, and the answer is 403 before.',
    source: 'documented',
    needs: ['grants.impersonation'],
    async run({ ask, project, fact, until }) {
      const seen = new Set<number>();
      const works = await until(480, async () => {
        const { status } = await ask(
          'compute',
          `GET /compute/v1/projects/${project}/zones`,
          undefined,
          fact('prober-token'),
        );
        if (status !== 200) seen.add(status);
        return status === 200 ? true : undefined;
      });
      if (works === undefined) return differs(`still refused after eight minutes: ${[...seen].join(', ')}`);
      return heldIf(
        [...seen].every((status) => status === 403),
        `${works.seconds} s after the first token`,
      );
    },
  },
  {
    id: 'policies.stale-etag',
    believes: 'A policy that is written with an old etag answers 409 ABORTED.',
    source: 'documented',
    needs: ['policies.bind-new-account'],
    async run(bench) {
      const { body } = await policyOf(bench);
      const { status, reasons } = await bench.ask(
        'cloudresourcemanager',
        `POST /v3/projects/${bench.project}:setIamPolicy`,
        { policy: { ...body, etag: bench.fact('first-etag') } },
      );
      return heldIf(status === 409 && reasons.includes('ABORTED'), `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'policies.etag-alphabet',
    believes: 'An etag may come back in the other alphabet of base64.',
    source: 'reported',
    needs: ['accounts.prober', 'projects.owner'],
    async run(bench) {
      const caller = bench.fact('caller');
      for (let turn = 0; turn < 16; turn++) {
        const bindings = turn % 2 === 0 ? [{ role: 'roles/iam.serviceAccountUser', members: [caller] }] : [];
        const line = `POST ${ofProber(bench)}:setIamPolicy`;
        const { body } = await bench.ask('iam', line, { policy: { bindings } });
        const etag = String(body['etag'] ?? '');
        if (swapped(etag) === etag) continue;
        const { status } = await bench.ask('iam', line, { policy: { bindings, etag: swapped(etag) } });
        return heldIf(status === 200, `${status}`);
      }
      return unknown('no etag of 16 had a letter that differs');
    },
  },
  {
    id: 'policies.condition',
    believes: 'A condition that does not parse answers 400 INVALID_ARGUMENT.',
    source: 'documented',
    needs: ['accounts.prober', 'projects.owner'],
    async run(bench) {
      const condition = { title: 'broken', expression: 'resource.name ==' };
      const binding = { role: 'roles/iam.serviceAccountUser', members: [bench.fact('caller')], condition };
      const { status, reasons } = await bench.ask('iam', `POST ${ofProber(bench)}:setIamPolicy`, {
        policy: { version: 3, bindings: [binding] },
      });
      return heldIf(status === 400 && reasons.includes('INVALID_ARGUMENT'), `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'tokens.custom-audience',
    believes: 'A deployed service takes an ID token whose audience is its URL, and refuses another with 401.',
    source: 'documented',
    needs: ['grants.impersonation'],
    async run(bench) {
      const { service } = bench;
      if (service === undefined) return unknown('no --service was given');
      const statusWith = async (audience: string): Promise<number> => {
        const headers = { authorization: `Bearer ${await idTokenFor(bench, audience)}` };
        return (await fetch(`${service}/v1/whoami`, { headers, signal: bench.signal })).status;
      };
      const [own, other] = [await statusWith(service), await statusWith('https://first-contact.example.com')];
      return heldIf(own !== 401 && other === 401, `its own: ${own}, another: ${other}`);
    },
  },
  {
    id: 'tokens.invoker',
    believes:
      'The function check, whose ingress is open, answers 403 to an ID token for its URL if its account is no invoker.',
    source: 'documented',
    needs: ['grants.impersonation'],
    async run(bench) {
      const { service } = bench;
      if (service === undefined) return unknown('no --service was given');
      const check = service.replace(/^https:\/\/[a-z]+-/, 'https://check-');
      const { signal } = bench;
      const headers = { authorization: `Bearer ${await idTokenFor(bench, check)}` };
      const [own, none] = [
        (await fetch(check, { method: 'POST', headers, signal })).status,
        (await fetch(check, { method: 'POST', signal })).status,
      ];
      return heldIf(own === 403 && none === 403, `with a token: ${own}, without: ${none}`);
    },
  },
  {
    id: 'roles.invited',
    believes: 'A role of a project may hold each permission that plinth gives the invited.',
    source: 'believed',
    makes: 'a role',
    needs: ['services.each-api'],
    async run({ cloud, project }) {
      const content = {
        title: 'First contact: the invited',
        description: 'Made by a check, and bound to nobody.',
        includedPermissions: [...invitedPermissions].sort(),
      };
      const { includedPermissions = [] } = await cloud.customRoles.create(project, 'firstContactInvited', content);
      const holds = includedPermissions.length === content.includedPermissions.length;
      return heldIf(holds, `${includedPermissions.length} of ${content.includedPermissions.length} permissions`);
    },
  },
];
