/** Secrets that are not there: what is answered to whom. */
import { type Bench, type Check, differs, heldIf } from '../check.js';
import { emailOf } from './identities.js';

const there = 'named-there';
const absent = 'named-absent';

const access = ({ ask, project }: Bench, secret: string, token?: string) =>
  ask('secretmanager', `GET /v1/projects/${project}/secrets/${secret}/versions/1:access`, undefined, token);

/** Waits until the second identity can read the secret that is there, then asks for the other. */
async function askedByProber(bench: Bench, secret: string) {
  const token = bench.fact('prober-token');
  const may = await bench.until(480, async () =>
    (await access(bench, there, token)).status === 200 ? true : undefined,
  );
  return may === undefined ? undefined : access(bench, secret, token);
}

export const secretChecks: readonly Check[] = [
  {
    id: 'secrets.first-version',
    believes: 'The first version of a secret has the number 1, and is read by it at once.',
    source: 'documented',
    makes: 'a secret',
    costs: ['secret'],
    needs: ['services.each-api'],
    async run({ cloud }) {
      const number = await cloud.secretManager.write(there, 'first-contact');
      const found = await cloud.secretManager.find(there);
      return heldIf(number === '1' && found === '1', `written as ${number}, found as ${found}`);
    },
  },
  {
    id: 'secrets.absent-to-owner',
    believes: 'A secret that is not there answers 404 to who may see all secrets of the project.',
    source: 'believed',
    needs: ['secrets.first-version'],
    async run(bench) {
      const { status, reasons } = await access(bench, absent);
      return heldIf(status === 404 && reasons.includes('NOT_FOUND'), `${status} ${reasons.join(' ')}`);
    },
  },
  {
    id: 'secrets.absent-to-one',
    believes: 'A secret that is not there answers 403 to who holds a role on another secret alone.',
    source: 'believed',
    needs: ['secrets.first-version', 'grants.impersonation'],
    async run(bench) {
      const secret = `/v1/projects/${bench.project}/secrets/${there}`;
      const binding = {
        role: 'roles/secretmanager.secretAccessor',
        members: [`serviceAccount:${emailOf(bench, 'prober')}`],
      };
      await bench.ask('secretmanager', `POST ${secret}:setIamPolicy`, { policy: { bindings: [binding] } });
      const reply = await askedByProber(bench, absent);
      if (reply === undefined) return differs('the grant did not count after eight minutes');
      return heldIf(reply.status === 403, `${reply.status} ${reply.reasons.join(' ')}`);
    },
  },
  {
    id: 'secrets.absent-to-prefix',
    believes:
      'A secret that is not there answers 404 to who holds a role on the project, limited to names like its own.',
    source: 'believed',
    needs: ['secrets.absent-to-one', 'projects.owner'],
    async run(bench) {
      const path = `/v3/projects/${bench.project}`;
      const { body } = await bench.ask('cloudresourcemanager', `POST ${path}:getIamPolicy`, {
        options: { requestedPolicyVersion: 3 },
      });
      const binding = {
        role: 'roles/secretmanager.secretAccessor',
        members: [`serviceAccount:${emailOf(bench, 'prober')}`],
        condition: {
          title: 'named',
          expression: `resource.name.startsWith("projects/${bench.fact('number')}/secrets/named-")`,
        },
      };
      const bindings = [...((body['bindings'] ?? []) as unknown[]), binding];
      const policy = { ...body, version: 3, bindings };
      const { status, message } = await bench.ask('cloudresourcemanager', `POST ${path}:setIamPolicy`, { policy });
      if (status !== 200) return differs(`the grant was refused: ${status} ${message}`);
      const token = bench.fact('prober-token');
      const found = await bench.until(480, async () => {
        const reply = await access(bench, absent, token);
        return reply.status === 403 ? undefined : reply;
      });
      return heldIf(
        found?.value.status === 404,
        found === undefined ? '403 for eight minutes' : `${found.value.status}`,
      );
    },
  },
];
