/** How long a project may live, as the command line says it: at the flag, with the limit and the latest time. */
import { expect } from 'chai';
import { bootstrap, type Sandbox } from './run-cli.js';
import { json, makeView, refuse, type Service } from './service.js';
import { useService } from './use-service.js';

describe('the longest life of a project', function () {
  this.timeout(30_000);
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  }, 'standing');

  const latest = 'would go beyond 366d from its beginning: 2027-11-28T12:00:00.000Z is the latest end';
  for (const [verb, flag, ...more] of [
    ['extend', '--ttl', '400d'],
    ['protect', '--until', '3207-01-01T00:00:00Z', '--reason', 'a demo'],
  ] as const) {
    it(`is named at ${flag} of ${verb}`, async () => {
      const view = makeView({});
      service.instead.set('GET /bootstraps', [(response) => json(response, 200, [view])]);
      const errors = [{ path: flag.slice(2), message: latest }];
      service.instead.set(`POST /bootstraps/${view.id}/${verb}`, [
        refuse('bad-input', `${flag.slice(2)} ${latest}`, { errors, advice: 'Give an earlier time.' }),
      ]);
      const { code, stderr } = await sandbox.run([...bootstrap, verb, view.projectId, flag, ...more]);
      expect(code).to.equal(2);
      expect(stderr).to.contain(`${flag} ${latest}`).and.to.contain('Give an earlier time.');
    });
  }

  it('is named at --project-ttl before the service is asked', async () => {
    const { code, stderr } = await sandbox.run([...bootstrap, '--project-name', 'first', '--project-ttl', '400d']);
    expect(code).to.equal(2);
    expect(stderr).to.match(/--project-ttl would go beyond 366d from its beginning: \d{4}-\S+Z is the latest end/);
  });
});
