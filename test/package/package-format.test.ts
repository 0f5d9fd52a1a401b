import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { create, extract, Header } from 'tar';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { PackageManifest, PackageVersion, readPackageManifest } from '../../shared/package/manifest.js';
import { bootstrap, createSandbox, five, type Sandbox } from '../cli/run-cli.js';

describe('an installer package', function () {
  this.timeout(240_000);
  let folder: string;
  let made: MadePackage;
  let unpacked: string;
  let sandbox: Sandbox;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-format-'));
    made = await makePackage(join(folder, 'one'));
    unpacked = join(folder, 'unpacked');
    mkdirSync(unpacked);
    await extract({ file: made.full.path, cwd: unpacked });
    sandbox = createSandbox();
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
    sandbox?.remove();
  });

  it('is the same bytes each time it is made', async () => {
    const again = await makePackage(join(folder, 'two'));
    expect([again.hash, again.full.sha256, again.lite.sha256]).to.deep.equal([
      made.hash,
      made.full.sha256,
      made.lite.sha256,
    ]);
    expect(readFileSync(again.full.path)).to.deep.equal(readFileSync(made.full.path));
  });

  it('is another build when its version is another', async () => {
    const other = await makePackage(join(folder, 'three'), '1.0.1');
    expect(other.hash).not.to.equal(made.hash);
  });

  it('bears one hash with and without images', async () => {
    const lite = join(folder, 'lite');
    mkdirSync(lite);
    await extract({ file: made.lite.path, cwd: lite });
    const manifests = [unpacked, lite].map((each) =>
      readPackageManifest(readFileSync(join(each, 'package.json'), 'utf8')),
    );
    expect(manifests.map(({ hash }) => hash)).to.deep.equal([made.hash, made.hash]);
    expect(() => readFileSync(join(lite, 'images/api/index.json'))).to.throw(/ENOENT/);
  });

  it('takes versions with and without v, and nothing that no label or path could hold', () => {
    for (const good of ['1', 'v1.2.3', '1.2.3-rc.1', '2.113.0+k0s.0']) {
      expect(PackageVersion.parse(good)).to.equal(good.replace('v', ''));
    }
    for (const bad of ['', 'latest', '../1', '1/2', '1.2.3 ', `1.${'0'.repeat(60)}`]) {
      expect(PackageVersion.safeParse(bad).success, bad).to.equal(false);
    }
  });

  /** Every way in which an archive may not be what was made, and how it is told. */
  const spoilt: Readonly<Record<string, readonly [spoil: (package_: string) => void, told: RegExp]>> = {
    'a changed file': [(at) => writeFileSync(join(at, 'lib/sample.py'), '# other'), /lib\/sample\.py is not what/],
    'a file more': [(at) => writeFileSync(join(at, 'lib/more.py'), ''), /lib\/more\.py is not named/],
    'a file less': [(at) => rmSync(join(at, 'lib/sample.py')), /lib\/sample\.py is missing/],
    'a link': [
      (at) => symlinkSync('/etc/passwd', join(at, 'lib/link.py')),
      /neither a file nor a folder|cannot be unpacked/,
    ],
    'a manifest that was changed': [
      (at) => {
        const path = join(at, 'package.json');
        writeFileSync(path, readFileSync(path, 'utf8').replace('"Programs"', '"Other"'));
      },
      /its content has/,
    ],
    'no manifest': [(at) => rmSync(join(at, 'package.json')), /no package\.json/],
    'an image less': [
      (at) => rmSync(join(at, 'images/api/blobs'), { recursive: true }),
      /the image plinth-sample\/api is missing/,
    ],
  };
  for (const [name, [spoil, told]] of Object.entries(spoilt)) {
    it(`is refused with ${name}`, async () => {
      const at = mkdtempSync(join(folder, 'spoilt-'));
      await extract({ file: made.full.path, cwd: at });
      spoil(at);
      const file = join(sandbox.folder, 'spoilt.tar.gz');
      await create({ file, cwd: at, gzip: true }, ['.']);
      const { code, stderr } = await sandbox.run([
        'install',
        'platform',
        '--package',
        file,
        '--state-dir',
        join(at, 's'),
      ]);
      expect(code).to.equal(2);
      expect(stderr).to.match(told);
    });
  }

  it('is refused with an entry that leads out of it', async () => {
    const at = mkdtempSync(join(folder, 'out-'));
    await extract({ file: made.full.path, cwd: at });
    writeFileSync(join(at, 'zz-outside'), 'not here');
    const file = join(sandbox.folder, 'out.tar.gz');
    const onWriteEntry = (entry: { path: string }) => {
      if (entry.path.endsWith('zz-outside')) entry.path = '../../../zz-outside';
    };
    await create({ file, cwd: at, gzip: true, preservePaths: true, onWriteEntry }, ['.']);
    const state = join(at, 's');
    const { code, stderr } = await sandbox.run(['install', 'platform', '--package', file, '--state-dir', state]);
    expect(stderr, stderr).to.match(/cannot be unpacked: .*path contains '\.\.'/);
    expect(code).to.equal(2);
    expect(existsSync(join(at, 'zz-outside'))).to.equal(true);
    expect(existsSync(join(at, '..', 'zz-outside'))).to.equal(false);
  });

  it('is refused with a hard link, a link or a device that leads out of it', async () => {
    const headerOf = (type: 'Link' | 'SymbolicLink' | 'File' | 'CharacterDevice', path: string, linkpath = '') => {
      const header = new Header({
        path,
        type,
        size: 0,
        mode: 0o644,
        mtime: new Date(0),
        devmaj: 1,
        devmin: 3,
        linkpath,
      });
      header.encode();
      return header.block ?? Buffer.alloc(0);
    };
    writeFileSync(join(folder, 'theirs'), 'theirs');
    const outside = join(folder, 'theirs');
    for (const blocks of [
      [headerOf('Link', 'lib/x', outside)],
      [headerOf('Link', 'lib/x', '../../../../theirs'), headerOf('File', 'lib/x')],
      [headerOf('SymbolicLink', 'lib', folder), headerOf('File', 'lib/theirs')],
      [headerOf('SymbolicLink', 'lib', '../../..'), headerOf('Link', 'x', 'lib/theirs'), headerOf('File', 'x')],
      [headerOf('CharacterDevice', 'lib/x')],
    ]) {
      const file = join(sandbox.folder, 'links.tar.gz');
      writeFileSync(file, gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)])));
      const state = mkdtempSync(join(folder, 'links-'));
      const { code, stderr } = await sandbox.run(['install', 'platform', '--package', file, '--state-dir', state]);
      expect(code).to.equal(2);
      expect(stderr).to.contain('cannot be unpacked');
      expect(readFileSync(outside, 'utf8')).to.equal('theirs');
    }
  });

  const entry = (path: string, bytes = 0): Buffer[] => {
    const type = path.endsWith('/') ? 'Directory' : 'File';
    const header = new Header({ path, size: bytes, type, mode: 0o755, mtime: new Date(0) });
    header.encode();
    return [header.block ?? Buffer.alloc(0), Buffer.alloc(Math.ceil(bytes / 512) * 512, ' ')];
  };
  const bombs: readonly (readonly [what: string, parts: () => Buffer[], told: RegExp])[] = [
    ['a file of almost nothing but blanks', () => entry('lib/pad', 64 * 1024 * 1024), /more than 100 times as large/],
    [
      'more entries than a package has',
      () => Array.from({ length: 20_001 }, () => entry('lib/')).flat(),
      /more than 20000 entries/,
    ],
    ['a manifest that fills the memory', () => entry('package.json', 5 * 1024 * 1024), /package\.json .*4 MiB/],
  ];
  for (const [what, parts, told] of bombs) {
    it(`is not unpacked with ${what}`, async () => {
      const file = join(sandbox.folder, 'bomb.tar.gz');
      // What does not compress keeps the third from being refused for its size.
      const noise = [...entry('lib/noise', 1024 * 1024).slice(0, 1), randomBytes(1024 * 1024)];
      writeFileSync(
        file,
        gzipSync(Buffer.concat([...(what.includes('blanks') ? [] : noise), ...parts(), Buffer.alloc(1024)])),
      );
      const state = mkdtempSync(join(folder, 'bomb-'));
      const installed = await sandbox.run(['install', 'platform', '--package', file, '--state-dir', state]);
      expect(installed.stderr).to.match(told);
      expect(installed.code).to.equal(2);
      expect(readdirSync(join(state, 'packages')), 'nothing of it stays').to.deep.equal([]);
      const sent = await sandbox.run([...bootstrap, ...five, '--install-local', file]);
      expect(sent.stderr).to.match(told);
    });
  }

  it('takes no path in its manifest that leads out of it', () => {
    const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as { files: object[] };
    const withPath = (path: string) => ({
      ...manifest,
      files: [...manifest.files, { path, sha256: '0'.repeat(64), executable: false }],
    });
    expect(PackageManifest.safeParse(withPath('lib/another.py')).success).to.equal(true);
    for (const path of ['../x', 'lib/../../x', 'lib/..', './x', '/etc/passwd', 'lib//x', 'lib\\..\\x', 'a\n']) {
      expect(PackageManifest.safeParse(withPath(path)).success, path).to.equal(false);
    }
  });

  it('is refused when its archive was cut short', async () => {
    const whole = readFileSync(made.full.path);
    writeFileSync(join(sandbox.folder, 'short.tar.gz'), whole.subarray(0, whole.length - 500));
    const ran = await sandbox.run([
      'install',
      'platform',
      '--package',
      'short.tar.gz',
      '--state-dir',
      join(folder, 's'),
    ]);
    expect(ran.code).to.equal(2);
    expect(ran.stderr)
      .to.match(/short\.tar\.gz.*cannot be unpacked/)
      .and.not.match(/--package/);
  });
});
