/**
 * The scripts of terraform/delivery/deploy.cloudbuild.yaml, one after the other until one fails, as Cloud Build runs them. What
 * there is of terraform and gcloud in them keeps in files what a deployment would be: which release is planned, which one serves.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { functionNames } from '../../shared/names.js';
import { releasePath } from '../../shared/release.js';
import { sha256 } from '../../shared/sha256.js';
import { projectFolder } from '../support/recording-store.js';
import { answering, putCommand, run } from '../support/scripts.js';

interface Step {
  readonly id: string;
  readonly script: string;
  readonly dir?: string;
}
const { steps, substitutions } = parse(
  readFileSync(join(projectFolder, 'terraform/delivery/deploy.cloudbuild.yaml'), 'utf8'),
) as { readonly steps: readonly Step[]; readonly substitutions: Readonly<Record<string, string>> };

const terraform = `#!/usr/bin/env bash
echo "terraform $*" >>"$STATE/calls"
case "$1" in
  plan) echo "\${@: -1}" | sed 's/release=//' >"$STATE/planned"; echo plan >"\${2#-out=}" ;;
  show) cat "$STATE/plan.json" ;;
  apply)
    [ "$(cat "$2")" = plan ] || exit 1
    [ -e "$STATE/traffic-stays" ] || cp "$STATE/planned" "$STATE/serving"
    rm -f "$STATE"/audience-*
    [ ! -e "$STATE/apply-fails" ] ;;
  output) cat "$STATE/endpoints.json" ;;
esac
`;
const gcloud = `#!/usr/bin/env bash
echo "gcloud $*" >>"$STATE/calls"
case "$*" in
  'run services list '*) printf '%s\\n' ${Object.values(functionNames).join(' ')} ;;
  'run services describe '*) echo '{"status":{"traffic":[{"revisionName":"'$4'-00007","percent":100}]}}' ;;
  'run services update-traffic '*-00007=100*) echo before >"$STATE/serving" ;;
  'run services update '*--add-custom-audiences=*) echo "\${*: -2:1}" | sed 's/.*=//' >"$STATE/audience-$4" ;;
  'run services update '*--no-invoker-iam-check*) touch "$STATE/unchecked-$4" ;;
  'auth print-identity-token --audiences=the-client') [ -e "$STATE/may-have-tokens" ] && echo the-token ;;
  'storage cp gs://acme-plinth-releases/releases/v'*) cp "$STATE/releases/\${3##*/releases/}" "$4" ;;
  'storage cat gs://acme-plinth-releases/releases/'*) cat "$STATE/releases/\${3##*/releases/}" ;;
  *) exit 1 ;;
esac
`;

const executable = 'the executable of the next release';
const hash = sha256(executable);

/** Takes the tests that are for the night alone: `it`, or nothing. */
type ByNight = (title: string, test: () => Promise<void>) => void;

export function deploysReleases(byNight: ByNight): void {
  describe('a build that deploys', function () {
    this.timeout(60_000);
    let folder: string;
    let state: string;
    let workspace: string;
    /** What lies where machines look, by path. */
    let served: Map<string, string>;
    let releases: Awaited<ReturnType<typeof answering>>;
    let plinth: Awaited<ReturnType<typeof answering>>;
    const write = (name: string, content: unknown = '') =>
      writeFileSync(join(state, name), typeof content === 'string' ? content : JSON.stringify(content));
    const read = (name: string) => readFileSync(join(state, name), 'utf8');
    const planned = (outputs: unknown) => write('plan.json', { planned_values: { outputs } });

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'plinth-deploy-'));
      state = join(folder, 'state');
      workspace = join(folder, 'workspace');
      cpSync(join(projectFolder, '.ci'), join(workspace, '.ci'), { recursive: true });
      mkdirSync(join(workspace, substitutions['_DEPLOYMENT'] ?? ''), { recursive: true });
      mkdirSync(join(state, 'releases', 'next'), { recursive: true });
      mkdirSync(join(folder, 'bin'));
      for (const [name, script] of Object.entries({ terraform, gcloud, sleep: '#!/bin/sh\n' })) {
        putCommand(join(folder, 'bin'), name, script);
      }
      served = new Map([[`/${releasePath(hash)}`, executable]]);
      releases = await answering(({ url = '' }) => {
        const body = served.get(url);
        return body === undefined ? { status: 404 } : { status: 200, body };
      });
      plinth = await answering(({ url = '', headers }) => {
        if (existsSync(join(state, 'iam')) && headers['x-serverless-authorization'] !== 'Bearer the-token')
          return { status: 403 };
        return url === '/health'
          ? { status: 200, body: JSON.stringify({ status: 'ok', release: read('serving').trim() }) }
          : { status: /^\/(organizations|bootstraps)$/.test(url) ? 401 : 200 };
      });
      write('serving', 'before');
      write('endpoints.json', { api: plinth.url, bootstraps: plinth.url });
      write('releases/next/plinth-linux-amd64.sha256', `${hash}  ${releasePath(hash)}\n`);
      planned({ releases_url: { value: releases.url } });
    });
    afterEach(() => {
      releases.close();
      plinth.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Up to the first script that fails, and what was said. */
    async function build(more: Readonly<Record<string, string>> = {}) {
      const env = {
        PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
        STATE: state,
        PROJECT_ID: 'acme',
        ...substitutions,
        _RELEASE: 'next',
        _RELEASE_BUCKET: 'acme-plinth-releases',
        ...more,
      };
      let said = '';
      for (const { id, script, dir } of steps) {
        const file = join(folder, id);
        writeFileSync(file, script.replaceAll('/workspace', workspace), { mode: 0o755 });
        const cwd = dir === undefined ? workspace : join(workspace, substitutions['_DEPLOYMENT'] ?? '');
        const { exitCode, output } = await run(file, [], env, { cwd });
        said += output;
        if (exitCode !== 0) return { failed: id, exitCode, said };
      }
      return { failed: undefined, exitCode: 0, said };
    }
    const calls = (beginning: string) =>
      (existsSync(join(state, 'calls')) ? read('calls') : '').split('\n').filter((call) => call.startsWith(beginning));

    it('applies what it has planned, once machines can fetch it, and sees it serve', async () => {
      const { failed, said } = await build();
      expect(failed, said).to.equal(undefined);
      expect(said).to.include('is the file of release next').and.include('Release next is applied');
      expect(calls('terraform ').map((call) => call.replaceAll(workspace, ''))).to.deep.equal([
        'terraform init -backend-config=bucket=acme-plinth-releases',
        'terraform plan -out=/plan -var release=next',
        'terraform show -json /plan',
        'terraform apply /plan',
        'terraform output -json endpoints',
      ]);
      expect(calls('gcloud run services update-traffic')).to.deep.equal([]);
      expect(read('serving')).to.equal('next\n');
    });

    byNight('finds the state in a bucket of its own, if the trigger names one', async () => {
      const { failed, said } = await build({ _STATE_BUCKET: 'acme-plinth-state' });
      expect(failed, said).to.equal(undefined);
      expect(calls('terraform init')).to.deep.equal(['terraform init -backend-config=bucket=acme-plinth-state']);
      expect(said).to.include('is the file of release next');
    });

    const rolledBack: readonly (readonly [title: string, fault: string, says: RegExp])[] = [
      ['an apply that fails half-way', 'apply-fails', /could not be applied or failed its smoke test/],
      ['traffic that stays with the revisions before', 'traffic-stays', /\/health \(release before instead of next\)/],
    ];
    for (const [at, [title, fault, says]] of rolledBack.entries()) {
      const test = at === 0 ? it : byNight;
      test(`takes back ${title}, and fails`, async () => {
        write(fault);
        const { failed, exitCode, said } = await build();
        expect({ failed, exitCode }, said).to.deep.equal({ failed: 'roll-back', exitCode: 1 });
        expect(said).to.match(says).and.not.include('is applied');
        expect(calls('gcloud run services update-traffic')).to.have.lengthOf(Object.keys(functionNames).length);
        expect(read('serving')).to.equal('before\n');
      });
    }

    byNight('takes back what answers wrongly, and fails', async () => {
      write('endpoints.json', { api: releases.url, bootstraps: plinth.url });
      const { failed, exitCode, said } = await build();
      expect({ failed, exitCode }, said).to.deep.equal({ failed: 'roll-back', exitCode: 1 });
      expect(said).to.include(`FAILED  404 instead of 200  ${releases.url}/openapi.json`);
      expect(read('serving')).to.equal('before\n');
    });

    const refused: readonly (readonly [title: string, make: () => void, says: RegExp])[] = [
      [
        'a file that machines cannot fetch',
        () => served.clear(),
        /cannot be fetched .*gcloud storage cp --no-clobber gs:\S+\/next\/plinth-linux-amd64 <there>/s,
      ],
      [
        'a file that is not that of the release',
        () => served.set(`/${releasePath(hash)}`, 'another'),
        /is another file, with the SHA-256 /,
      ],
      [
        'a release that is not there',
        () => rmSync(join(state, 'releases', 'next'), { recursive: true }),
        /releases\/next does not tell what machines are to fetch/,
      ],
      [
        'a setting by which machines take another file',
        () => planned({ releases_url: { value: releases.url }, releases_sha256: { value: '0'.repeat(64) } }),
        /PLINTH_RELEASE_SHA256 of \S+ is 0{64}.*Take the setting out/s,
      ],
      [
        'a configuration that does not say where machines fetch it',
        () => planned({}),
        /Give it the output releases_url, as/,
      ],
    ];
    for (const [at, [title, make, says]] of refused.entries()) {
      const test = at < 2 ? it : byNight;
      test(`applies nothing with ${title}`, async () => {
        make();
        const { failed, exitCode, said } = await build();
        expect({ failed, exitCode }, said).to.deep.equal({ failed: 'release-file', exitCode: 1 });
        expect(said).to.match(says).and.not.include('Traceback');
        expect(calls('terraform apply')).to.deep.equal([]);
      });
    }

    describe('behind IAM', () => {
      const behindIam = { _BEHIND_IAM: 'true', _OAUTH_CLIENT: 'the-client,another' };
      const audiences = () => ['api', 'bootstraps'].map((name) => read(`audience-${name}`).trim());
      beforeEach(() => write('iam'));

      byNight(
        'tells the front end the OAuth clients of people after each apply, also after one that is taken back',
        async () => {
          write('apply-fails');
          const { failed, said } = await build(behindIam);
          expect(failed, said).to.equal('roll-back');
          expect(audiences()).to.deep.equal(['the-client,another', 'the-client,another']);
        },
      );

      byNight('takes the release back where the front end cannot be told', async () => {
        putCommand(join(folder, 'bin'), 'gcloud', gcloud.replace("'run services update '", "'never '"));
        const { failed, said } = await build(behindIam);
        expect(failed, said).to.equal('roll-back');
        expect(said).to.include('people cannot reach');
      });

      byNight('begins nothing without an OAuth client', async () => {
        const { failed, said } = await build({ _BEHIND_IAM: 'true' });
        expect(failed, said).to.equal(steps[0]?.id);
        expect(said).to.include('_OAUTH_CLIENT');
      });

      it('sees which release serves, by a token for the front end alone', async () => {
        write('may-have-tokens');
        const { failed, said } = await build(behindIam);
        expect(failed, said).to.equal(undefined);
        expect(said).to.include('/health (release next)').and.not.include('the-token');
        expect(plinth.asked.filter(({ headers }) => headers.authorization !== undefined)).to.deep.equal([]);
      });

      byNight('says that it does not see that, where it gets no token', async () => {
        const { failed, said } = await build(behindIam);
        expect(failed, said).to.equal(undefined);
        expect(said)
          .to.include('(which release it is, was not seen)')
          .and.match(/no ID token.*docs\/operate\/deploy\.md/s);
      });
    });

    describe("without Cloud Run's check of invokers", () => {
      it('switches that check off after each apply, and asks plinth itself', async () => {
        const { failed, said } = await build({ _BEHIND_IAM: 'off' });
        expect(failed, said).to.equal(undefined);
        expect(said).to.include('/health (release next)');
        expect(['api', 'bootstraps'].map((name) => existsSync(join(state, `unchecked-${name}`)))).to.not.include(false);
      });

      byNight('takes the release back where that cannot be done', async () => {
        putCommand(join(folder, 'bin'), 'gcloud', gcloud.replace("'run services update '*--no", "'never '*--no"));
        const { failed, said } = await build({ _BEHIND_IAM: 'off' });
        expect(failed, said).to.equal('roll-back');
        expect(said).to.include('people cannot reach');
      });
    });

    byNight('leaves the audiences alone where IAM lets everybody pass', async () => {
      await build();
      expect(calls('gcloud run services update ')).to.deep.equal([]);
    });

    for (const [title, value] of [
      ['with a setting that is the sum of the release', hash],
      ['without such a setting', ''],
    ]) {
      byNight(`applies ${title}`, async () => {
        planned({ releases_url: { value: releases.url }, releases_sha256: { value } });
        const { failed, said } = await build();
        expect(failed, said).to.equal(undefined);
      });
    }

    it('looks into the private bucket where machines fetch from there', async () => {
      planned({ releases_url: { value: 'gs://acme-plinth-releases/releases' } });
      const missing = await build();
      expect(missing.failed, missing.said).to.equal('release-file');
      expect(missing.said).to.include(`gs://acme-plinth-releases/releases/${releasePath(hash)} cannot be fetched`);
      mkdirSync(dirname(join(state, 'releases', releasePath(hash))), { recursive: true });
      write(`releases/${releasePath(hash)}`, executable);
      const { failed, said } = await build();
      expect(failed, said).to.equal(undefined);
      expect(releases.asked).to.deep.equal([]);
    });

    byNight('asks for no file where machines fetch none', async () => {
      served.clear();
      planned({ releases_url: { value: '' } });
      const { failed, said } = await build();
      expect(failed, said).to.equal(undefined);
      expect(releases.asked).to.deep.equal([]);
    });
  });
}
