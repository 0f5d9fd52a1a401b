/** Times as people give them to the command line: durations, and RFC 3339 with a zone. All else is refused before a request. */
import { expect } from 'chai';
import { bootstrap, type Sandbox } from './run-cli.js';
import { json, makeView, type Service } from './service.js';
import { useService } from './use-service.js';

describe('a time on the command line', function () {
  this.timeout(30_000);
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });

  const protect = [...bootstrap, 'protect', 'demo', '--reason', 'a demo', '--until'];
  for (const [given, args, flag] of [
    ['a bare number', ['team', 'events', '42', '--since', '7'], '--since'],
    ['a day', ['team', 'events', '42', '--until', '2030-01-31'], '--until'],
    ['a time without a zone', ['team', 'events', '42', '--since', '2030-01-31T18:00:00'], '--since'],
    ['a time in words', [...protect, 'Thu, 31 Jan 2030 18:00:00 GMT'], '--until'],
    ['a day that no month has', [...protect, '2030-02-30T18:00:00Z'], '--until'],
    ['a zone that no place has', [...protect, '2030-01-31T18:00:00+25:00'], '--until'],
  ] as const) {
    it(`is refused as ${given}, with both forms named`, async () => {
      const { code, stderr } = await sandbox.run(args);
      expect(code, stderr).to.equal(2);
      expect(stderr).to.contain(`${flag} must be a duration such as 2d, or a time with its zone such as `);
      expect(service.seen).to.deep.equal([]);
    });
  }

  it('is taken with any zone, and sent in UTC', async () => {
    const view = makeView({});
    service.instead.set('GET /bootstraps', [(response) => json(response, 200, [view])]);
    const until = '2030-01-31T17:00:00.000Z';
    const path = `/bootstraps/${view.id}/protect`;
    service.instead.set(`POST ${path}`, [
      (response) => json(response, 200, { ...view, protection: { until, by: 'alice@example.com', reason: 'a demo' } }),
    ]);
    const args = [
      ...bootstrap,
      'protect',
      view.projectId,
      '--reason',
      'a demo',
      '--until',
      '2030-01-31T18:00:00+01:00',
    ];
    const { stdout, stderr } = await sandbox.run(args);
    expect(stdout, stderr).to.contain('is not removed before 2030-01-31 17:00 UTC.');
    expect(service.seen.find((asked) => asked.path === path)?.body).to.include({ until });
  });
});
