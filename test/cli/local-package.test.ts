/** The package of `--install-local` is read to its end and compared with the other flags before anything is created. */
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { smallPackage } from '../support/archive.js';
import { bootstrap, five, type Sandbox } from './run-cli.js';
import { json, type Service } from './service.js';
import { useService } from './use-service.js';

const image = { name: 'api', tag: '1', digest: `sha256:${'0'.repeat(64)}`, path: 'images/api' };
const { hash, archive } = smallPackage({ images: [image] });

describe('the package of --install-local', function () {
  this.timeout(30_000);
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });

  const local = ['--registry-user=me', '--install-local=package.tar.gz'];
  const refusals: readonly (readonly [what: string, content: Buffer, more: readonly string[], why: RegExp])[] = [
    ['of another hash', archive, ['--install-hash', 'f'.repeat(40)], new RegExp(`--install-hash .*${hash}`)],
    ['of another version', archive, ['--install-version', '1.0.1'], /--install-version .*1\.0\.0/],
    ['without the images that the registry needs', archive, ['--registry-type=artifact-registry'], /holds no images/],
    ['cut behind its manifest', archive.subarray(0, -12), [], /is cut off/],
    ['that lacks a file', smallPackage({ files: [] }).archive, [], /run is to be run|run is not named/],
    [
      'whose file has changed',
      smallPackage({ files: [{ path: 'run', sha256: '0'.repeat(64), executable: true }] }).archive,
      [],
      /run is not what/,
    ],
  ];
  for (const [what, content, more, why] of refusals) {
    it(`is refused ${what}, before the service is asked`, async () => {
      writeFileSync(sandbox.path('package.tar.gz'), content);
      const { code, stderr } = await sandbox.run([...bootstrap, ...five, ...local, ...more]);
      expect(code, stderr).to.equal(2);
      expect(stderr).to.include('--install-local package.tar.gz: ').and.match(why).and.not.include('--package');
      expect(service.seen).to.deep.equal([]);
    });
  }

  it('is compared by --check, too', async () => {
    writeFileSync(sandbox.path('package.tar.gz'), archive);
    service.instead.set('POST /preflights', [(response) => json(response, 200, { go: true, findings: [] })]);
    const { code, stdout } = await sandbox.run([...bootstrap, '--check', ...five, ...local, '--install-version=9']);
    expect(code).to.equal(2);
    expect(stdout).to.include('--install-local package.tar.gz: ').and.include('--install-version');
  });

  it('is compared by up, too, with what plinth.yaml says', async () => {
    writeFileSync(sandbox.path('package.tar.gz'), archive);
    const lines = [
      ...five.slice(0, 4).map((each) => each.slice(2).replace('=', ': ')),
      'forge1-app-client-secret: {env: APP_SECRET}',
      'registry-user: me',
      'install-local: package.tar.gz',
      'install-version: "9"',
    ];
    sandbox.write('plinth.yaml', `${lines.join('\n')}\n`);
    const { code, stderr } = await sandbox.run(['up', '--yes'], { APP_SECRET: 'secret' });
    expect(code).to.equal(2);
    expect(stderr).to.include('plinth.yaml:7:install-local package.tar.gz: --install-version is 9');
  });

  it('is taken where all is as the flags say, and a preview only warns', async () => {
    writeFileSync(sandbox.path('package.tar.gz'), archive);
    const right = ['--install-version=v1.0.0', `--install-hash=${hash}`];
    const planned = await sandbox.run([...bootstrap, '--dry-run', ...five, ...local, ...right]);
    expect(planned.stderr).not.to.include('--install-local');
    const other = await sandbox.run([...bootstrap, '--dry-run', ...five, ...local, '--install-version=9']);
    expect(other.stderr).to.include('--install-local package.tar.gz: ');
    expect(service.seen.length, 'both have asked the service').to.be.greaterThan(1);
  });
});
