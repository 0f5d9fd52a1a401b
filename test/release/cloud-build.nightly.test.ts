/**
 * The scripts of cloudbuild.yaml, one after the other, on the files that `gcloud builds submit` would upload. What there is of
 * gcloud in them takes the release as a bucket would: files alone, each once.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { functionNames } from '../../shared/names.js';
import { releasePath } from '../../shared/release.js';
import { sha256 } from '../../shared/sha256.js';
import { version } from '../../shared/version.js';
import { projectFolder } from '../support/recording-store.js';

interface Step {
  readonly id: string;
  readonly script?: string;
}

const gcloud = `#!/usr/bin/env bash
echo "$*" >>"$BUCKET/../calls"
case "$1 $2 $3" in
  'storage objects describe') [ -e "$BUCKET/\${4##*/}" ] ;;
  'storage cp --no-clobber')
    to="$BUCKET"
    # Into a folder, or as one file.
    case "\${!#}" in */) ;; *) to="$BUCKET/../machines/\${!##gs://*/}"; mkdir -p "$(dirname "$to")" ;; esac
    cp --no-clobber -- "\${@:4:$#-4}" "$to" ;;
esac
`;

describe('a build of Cloud Build', function () {
  this.timeout(600_000);
  let folder: string;
  let source: string;
  let bucket: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-cloud-build-'));
    source = join(folder, 'workspace');
    bucket = join(folder, 'bucket');
    mkdirSync(bucket);
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin', 'gcloud'), gcloud, { mode: 0o755 });
    const uploaded = execFileSync('gcloud', ['meta', 'list-files-for-upload', projectFolder], { encoding: 'utf8' });
    for (const file of uploaded.trim().split('\n')) cpSync(join(projectFolder, file), join(source, file));
    // In place of the step `install`.
    symlinkSync(join(projectFolder, 'node_modules'), join(source, 'node_modules'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const build = () => parse(readFileSync(join(source, 'cloudbuild.yaml'), 'utf8')) as { steps: Step[] };
  const run = (id: string, more: Readonly<Record<string, string>> = {}) => {
    const script = build().steps.find((step) => step.id === id)?.script;
    if (script === undefined) throw new Error(`there is no script ${id}`);
    const file = join(folder, id);
    writeFileSync(file, script, { mode: 0o755 });
    const substitutions = {
      PROJECT_ID: 'acme',
      LOCATION: 'europe-west4',
      _RELEASE: '9.9.9',
      _RELEASE_BUCKET: 'releases',
    };
    const { status, stdout, stderr } = spawnSync(file, {
      cwd: source,
      encoding: 'utf8',
      env: {
        ...process.env,
        PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
        BUCKET: bucket,
        ...substitutions,
        ...more,
      },
    });
    return { status, output: stdout + stderr };
  };
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  const expectWell = ({ status, output }: ReturnType<typeof run>) => expect(status, output).to.equal(0);

  it('checks what was uploaded', () => {
    expectWell(run('check'));
  });

  it('publishes each function, the command line as executable and as package, the SBOM, and a sum of every file', () => {
    for (const id of ['build', 'sbom', 'publish']) expectWell(run(id));
    const files = [
      ...Object.values(functionNames).map((name) => `${name}.zip`),
      'plinth-linux-amd64',
      'plinth-linux-amd64.sha256',
      'plinth-linux-amd64.THIRD_PARTY_NOTICES',
      `plinth-${version}.tgz`,
      'sbom.cdx.json',
    ];
    expect(readdirSync(bucket)).to.have.members([...files, 'SHA256SUMS']);
    const sums = readFileSync(join(bucket, 'SHA256SUMS'), 'utf8').trim().split('\n');
    expect(sums).to.have.members(files.map((file) => `${sha256(readFileSync(join(bucket, file)))}  ${file}`));
    // Where machines will look for it.
    const sum = sha256(readFileSync(join(bucket, 'plinth-linux-amd64')));
    expect(readFileSync(join(bucket, 'plinth-linux-amd64.sha256'), 'utf8')).to.equal(`${sum}  ${releasePath(sum)}\n`);
    const fetched = readFileSync(join(folder, 'machines', 'releases', releasePath(sum)));
    expect(sha256(fetched)).to.equal(sum);
    const inside = execFileSync('unzip', ['-Z1', join(bucket, 'api.zip')], { encoding: 'utf8' }).split('\n');
    expect(inside).to.include.members(['index.mjs', 'package.json', 'package-lock.json', 'THIRD_PARTY_NOTICES']);
    const { components } = JSON.parse(readFileSync(join(bucket, 'sbom.cdx.json'), 'utf8'));
    const names = components.map(({ name }: { name: string }) => name);
    expect(names).to.include.members(Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies));
  });

  it('never publishes a release twice', () => {
    const { status, output } = run('publish');
    expect(status).to.equal(1);
    expect(output).to.include('Release 9.9.9 is there already');
  });

  it('asks for a deployment by a message that names the release, and only where it is to', () => {
    expectWell(run('ask-for-deployment', { _DEPLOY: 'false' }));
    const before = calls().length;
    expectWell(run('ask-for-deployment', { _DEPLOY: 'true' }));
    expect(calls().slice(before)).to.deep.equal([
      'pubsub topics publish plinth-releases --project acme --attribute release=9.9.9',
    ]);
  });
});
