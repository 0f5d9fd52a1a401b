/** The command line meets a service of another version: it says so, and what to do, rather than stumble. */
import { expect } from 'chai';
import { version, versionHeader } from '../../shared/version.js';
import type { Sandbox } from './run-cli.js';
import { json, makeView, refuse, type Service } from './service.js';
import { useService } from './use-service.js';

/** As the release before the last one told of bootstraps: without what they cost and whom they are shared with. */
function oldView(): object {
  const { cost: _, sharedWith: __, ...rest } = makeView();
  return rest;
}

describe('a service of another version', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  }, 'standing');
  const list = ['beta', 'bootstrap-cloud', 'list'];
  const answer = (serviceVersion: string | undefined) =>
    service.instead.set('GET /bootstraps', [
      (response) => {
        if (serviceVersion !== undefined) response.setHeader(versionHeader, serviceVersion);
        json(response, 200, [oldView()]);
      },
    ]);

  for (const [title, of, expected] of [
    ['an older one', '2.9.1', /is of version 2\.9\.1, this one of .*\nUse plinth 2\.9\.1 here, or ask an operator/s],
    [
      'a newer one',
      '30.0.0',
      /is of version 30\.0\.0, this one of .*\nGet plinth 30\.0\.0, the version of this deployment/s,
    ],
    [
      'one that names no version',
      undefined,
      /does not name its version.*an older plinth, or none\.\nCheck the endpoint/s,
    ],
    ['what is no version', 'Error: not a version', /does not name its version/],
  ] as const) {
    it(`${title} whose answer cannot be read is named at once, with what to do`, async () => {
      answer(of);
      const { code, stdout, stderr } = await sandbox.run(list);
      expect([code, stdout]).to.deep.equal([5, '']);
      expect(stderr).to.match(expected);
      expect(stderr)
        .to.include(version)
        .and.to.not.match(/zod|invalid_type|sharedWith|\n {4}at /);
      expect(service.seen).to.have.lengthOf(1);
    });
  }

  it('is told in JSON with both versions', async () => {
    answer('2.9.1');
    const { code, stdout } = await sandbox.run([...list, '--json']);
    expect(code).to.equal(5);
    expect(JSON.parse(stdout)).to.deep.include({ type: 'result', exitCode: 5 });
    expect(JSON.parse(stdout).problem).to.include({ code: 'versions-differ', version, service: '2.9.1' });
  });

  it('of its own version that answers so is at fault itself', async () => {
    service.instead.set('POST /bootstraps/b-one/cancel', [
      (response) => {
        response.setHeader(versionHeader, version);
        json(response, 200, {});
      },
    ]);
    const { code, stderr } = await sandbox.run(['beta', 'bootstrap-cloud', 'cancel', 'demo']);
    expect(code).to.equal(1);
    expect(stderr).to.match(/Both sides are of one version, so this is a fault of plinth/);
  });

  it('that has never heard of what is asked is named beside its refusal', async () => {
    const refusal = refuse('not-found', 'Nothing is served at this path.');
    service.instead.set('GET /bootstraps', [
      (response, seen) => {
        response.setHeader(versionHeader, '2.9.1');
        return refusal(response, seen);
      },
    ]);
    const { code, stderr } = await sandbox.run(list);
    expect(code).to.equal(4);
    expect(stderr).to.match(/The service is plinth 2\.9\.1, this is .* Use plinth 2\.9\.1 here/);
  });
});
