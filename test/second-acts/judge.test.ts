/** The judge of second acts sees what was not announced, and passes over what was. */
import { expect } from 'chai';
import { judge, type Known, type Powers } from './judge.js';
import type { Snapshot } from './snapshot.js';
import type { Ran } from './stage.js';

const project = {
  id: 'b1',
  projectId: 'demo-1',
  state: 'succeeded',
  removal: false,
  installed: true,
  fixed: { 'base-domain': 'a.example.com', zone: 'z' },
};
const snapshot = (parts: Partial<Snapshot> = {}): Snapshot => ({
  files: new Map([['config.yaml', 'one']]),
  cloud: new Map([['compute.instances projects/demo-1/zones/z/instances/k0s-1', '{}']]),
  secrets: new Map([['b1-caller', 'one']]),
  documents: new Map([['the record b1', '{}']]),
  bootstrap: project,
  ...parts,
});
const powers: Powers = { looks: false, removes: false, killed: false };
const known: Known = {
  ...{ folder: '/home/alice', lostVms: new Set<string>(), secrets: ['hidden-4711'] },
  ...{ values: new Map([['postgresPassword', new Set(['[null,null]'])]]), unwritten: new Set<string>() },
};

function ran(result: object, { exitCode = 0, stderr = '' }: Partial<Ran> = {}): Ran {
  const stdout = `${JSON.stringify({ type: 'result', exitCode, ...result })}\n`;
  return { args: [], exitCode, stdout, stderr, ending: 'ended' };
}

interface Case {
  readonly what: string;
  readonly ran: Ran;
  readonly after?: Partial<Snapshot>;
  readonly known?: Partial<Known>;
  readonly verdict: RegExp | undefined;
}

const resumed = { bootstrap: {}, created: false, changes: [] };
const rewritten = { files: new Map([['config.yaml', 'two']]) };
const withoutVm = { cloud: new Map<string, string>() };

const cases: readonly Case[] = [
  { what: 'a rerun that changes nothing', ran: ran(resumed), verdict: undefined },
  { what: 'exit code 1', ran: ran({}, { exitCode: 1, stderr: 'inside plinth' }), verdict: /exit code 1/ },
  { what: 'a command that hangs', ran: { ...ran({}), ending: 'hung' }, verdict: /hangs/ },
  { what: 'a secret on stderr', ran: ran({}, { stderr: 'it is hidden-4711' }), verdict: /shows a secret/ },
  { what: 'a file that is written in silence', ran: ran(resumed), after: rewritten, verdict: /config\.yaml/ },
  {
    what: 'a file that is called unchanged',
    ran: ran({ ...resumed, files: [{ path: 'config.yaml', state: 'unchanged' }] }),
    after: rewritten,
    verdict: /not announced: the file config\.yaml/,
  },
  {
    what: 'a file that is called written',
    ran: ran({ ...resumed, files: [{ path: '/home/alice/config.yaml', state: 'written' }] }),
    after: rewritten,
    verdict: undefined,
  },
  { what: 'a VM that is gone after a rerun', ran: ran(resumed), after: withoutVm, verdict: /in the cloud compute/ },
  {
    what: 'a VM that hands deleted and the rerun brought back',
    ran: ran(resumed),
    after: { cloud: new Map([['compute.instances projects/demo-1/zones/z/instances/k0s-1', '{"again":true}']]) },
    known: { lostVms: new Set(['k0s-1']) },
    verdict: undefined,
  },
  {
    what: 'a refused command that makes a project',
    ran: ran({}, { exitCode: 2 }),
    after: { cloud: new Map([['projects demo-2', '{}']]) },
    verdict: /refused, but projects demo-2 is new/,
  },
  {
    what: 'a secret that plinth keeps and changes in silence',
    ran: ran(resumed),
    after: { secrets: new Map([['b1-caller', 'two']]) },
    verdict: /in Secret Manager b1-caller/,
  },
  {
    what: 'a rerun that forgets what is installed',
    ran: ran(resumed),
    after: { bootstrap: { ...project, installed: false } },
    verdict: /what is installed is forgotten/,
  },
];

describe('the judge of second acts', () => {
  for (const { what, ran: command, after, known: more, verdict } of cases) {
    it(`${verdict === undefined ? 'accepts' : 'rejects'} ${what}`, () => {
      const verdicts = judge({
        ...{ ran: command, before: snapshot(), after: snapshot(after), powers, secretsAfter: undefined },
        known: { ...known, ...more },
      });
      if (verdict === undefined) expect(verdicts).to.deep.equal([]);
      else expect(verdicts.join('\n')).to.match(verdict);
    });
  }

  it('rejects a secret of the file that has another value, unless its option is announced', () => {
    const secretsAfter = {
      version: 1 as const,
      secrets: [{ name: 'postgresPassword', fields: { password: 'other' } }],
    };
    const parts = { before: snapshot(), after: snapshot(), powers, secretsAfter, known };
    expect(judge({ ...parts, ran: ran(resumed) }).join('\n')).to.match(/postgresPassword/);
    const [own, value] = ['forge1AppClientSecret', new Set(['"before"'])];
    const given = { version: 1 as const, secrets: [{ name: own, fields: { password: 'other' } }] };
    const changes = [{ option: '--forge1-app-client-secret' }];
    const announced = { ...parts, secretsAfter: given, known: { ...known, values: new Map([[own, value]]) } };
    expect(judge({ ...announced, ran: ran({ ...resumed, changes }) })).to.deep.equal([]);
  });
});
