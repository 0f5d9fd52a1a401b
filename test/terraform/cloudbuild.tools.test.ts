/** The builds, judged by Cloud Build's own API surface; the scripts in them are run where they can be. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { Schema } from '../../local/cloud/kernel/surface.js';
import { functionNames } from '../../shared/names.js';
import { projectFolder } from '../support/recording-store.js';
import { makeScene, type Scene } from '../support/scene.js';
import { answering, putCommand, run } from '../support/scripts.js';

const read = (file: string): string => readFileSync(join(projectFolder, file), 'utf8');
const { schemas } = JSON.parse(read('local/cloud/discovery/cloudbuild.v1.json')) as {
  schemas: Readonly<Record<string, Schema>>;
};

/** What does not fit, by path: unknown fields, wrong types, values that there are not, what only Google sets. */
function faultsIn(value: unknown, schema: Schema, path: string): string[] {
  if (schema.$ref !== undefined) return faultsIn(value, schemas[schema.$ref] ?? {}, path);
  if (schema.readOnly) return [`${path} is set by Cloud Build alone`];
  const is = (type: string) => (typeof value === type ? [] : [`${path} must be a ${type}`]);
  if (schema.enum !== undefined) return schema.enum.includes(String(value)) ? [] : [`${path} is no ${String(value)}`];
  if (schema.format === 'google-duration')
    return /^\d+(\.\d+)?s$/.test(String(value)) ? [] : [`${path} must be seconds, as 60s`];
  if (schema.format === 'int64') return /^\d+$/.test(String(value)) ? [] : [`${path} must be a whole number`];
  switch (schema.type) {
    case 'string':
    case 'boolean':
      return is(schema.type);
    case 'integer':
    case 'number':
      return is('number');
    case 'array':
      if (!Array.isArray(value)) return [`${path} must be a list`];
      return value.flatMap((each, i) => faultsIn(each, schema.items ?? {}, `${path}[${i}]`));
    case 'object': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} must be an object`];
      return [
        ...Object.entries(value).flatMap(([name, each]) => {
          const field = schema.properties?.[name] ?? schema.additionalProperties;
          return field === undefined ? [`${path}.${name} is unknown`] : faultsIn(each, field, `${path}.${name}`);
        }),
        ...Object.entries(schema.properties ?? {})
          .filter(([name, field]) => field.description?.startsWith('Required') && !(name in value))
          .map(([name]) => `${path}.${name} is missing`),
      ];
    }
    default:
      return [];
  }
}

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly script?: string;
  readonly args?: readonly string[];
  readonly entrypoint?: string;
  readonly waitFor?: readonly string[];
  readonly automapSubstitutions?: boolean;
}
interface Build {
  readonly steps: readonly Step[];
  readonly substitutions?: Readonly<Record<string, string>>;
}

const builtIn = ['PROJECT_ID', 'LOCATION', 'SHORT_SHA'];

/** Rules of Cloud Build that its surface does not tell. */
function rulesBroken(build: Build): string[] {
  const ids = build.steps.map(({ id }) => id ?? '');
  const known = new Set([...Object.keys(build.substitutions ?? {}), ...builtIn]);
  return [
    ...ids.filter((id, i) => id === '' || ids.indexOf(id) !== i).map((id) => `the id ${id} is not unique`),
    ...build.steps.flatMap(({ id, script, args, entrypoint, waitFor = [], automapSubstitutions }, i) => [
      ...waitFor
        .filter((each) => !ids.slice(0, i).includes(each))
        .map((each) => `${id} waits for ${each}, which is not before it`),
      ...(script !== undefined && (args !== undefined || entrypoint !== undefined)
        ? [`${id} has a script and args`]
        : []),
      ...(script !== undefined && !script.startsWith('#!') ? [`${id}: its script has no interpreter`] : []),
      ...[...(script ?? '').matchAll(/\$\{?(_[A-Z_]+|[A-Z]+_(?:ID|SHA)|LOCATION)\b/g)].flatMap(([, name = '']) => {
        if (!known.has(name)) return [`${id} uses ${name}, which there is not`];
        return automapSubstitutions ? [] : [`${id} uses ${name}, which a script gets by automapSubstitutions alone`];
      }),
    ]),
    ...build.steps.flatMap(({ id, name = '' }) =>
      [...name.matchAll(/\$\{?(\w+)/g)]
        .filter(([, image = '']) => !known.has(image))
        .map(([, image]) => `${id} runs in ${image}, which there is not`),
    ),
    ...Object.keys(build.substitutions ?? {})
      .filter((name) => !/^_[A-Z0-9_]+$/.test(name))
      .map((name) => `${name} is no name of a substitution`),
  ];
}

const builds = [
  'cloudbuild.yaml',
  'terraform/delivery/deploy.cloudbuild.yaml',
  'terraform/delivery/nightly.cloudbuild.yaml',
];
const buildOf = (file: string): Build => parse(read(file)) as Build;
const judge = (build: unknown): string[] => [
  ...faultsIn(build, schemas['Build'] ?? {}, 'build'),
  ...rulesBroken(build as Build),
];

const mistakes: readonly (readonly [title: string, (build: Record<string, unknown>) => unknown, RegExp])[] = [
  ['a misspelt field', (build) => ({ ...build, timout: '60s' }), /timout is unknown/],
  ['a duration that is none', (build) => ({ ...build, timeout: 3600 }), /timeout must be seconds/],
  [
    'a machine that there is not',
    (build) => ({ ...build, options: { machineType: 'E2_TINY' } }),
    /machineType is no E2_TINY/,
  ],
  ['a field that Google sets', (build) => ({ ...build, status: 'SUCCESS' }), /status is set by Cloud Build/],
  ['a step without an image', (build) => ({ ...build, steps: [{ id: 'x' }] }), /name is missing/],
  [
    'a step that waits for none',
    (build) => ({ ...build, steps: [{ id: 'x', name: 'y', waitFor: ['z'] }] }),
    /waits for z/,
  ],
  [
    'a substitution that is not declared',
    (build) => ({ ...build, steps: [{ id: 'x', name: 'y', script: '#!/bin/sh\necho $_NONE' }] }),
    /_NONE, which there is not/,
  ],
  [
    'an image that is not declared',
    (build) => ({ ...build, steps: [{ id: 'x', name: '$_NONE' }] }),
    /runs in _NONE, which there is not/,
  ],
];

const smoke = join(projectFolder, '.ci/smoke');

describe('cloudbuild', function () {
  this.timeout(60_000);

  it('tests where simulated VMs can be, with all that the tests ask Debian for', async () => {
    const { args = [] } = buildOf('cloudbuild.yaml').steps.find(({ id }) => id === 'test') ?? {};
    expect(args).to.include.members([
      '--privileged',
      '--volume=/workspace:/workspace',
      '--volume=/tmp',
      '--env=CI=true',
    ]);
    const sed = /\$\((sed .*) \/tmp\/programs\)/.exec(read('.ci/Dockerfile'))?.[1];
    const { output } = await run('bash', ['-c', `${sed} ${join(projectFolder, '.ci/programs')}`]);
    const asked = read('.ci/programs').match(/^[^#\n].*$/gm);
    expect(output.trim().split('\n'))
      .to.have.lengthOf(asked?.length ?? 0)
      .and.include.members(['bubblewrap', 'openssh-server']);
  });

  it('begins nothing without a name for the release', async () => {
    const { script = '' } = buildOf('cloudbuild.yaml').steps[0] ?? {};
    const begin = (_RELEASE: string) => run('sh', [], { _RELEASE }, { input: script });
    expect((await begin('3f2a1bc')).exitCode).to.equal(0);
    const { exitCode, output } = await begin('');
    expect(exitCode).to.equal(1);
    expect(output).to.include('Give _RELEASE');
  });

  for (const file of builds) {
    it(`${file} fits what Cloud Build takes`, () => {
      expect(judge(buildOf(file))).to.deep.equal([]);
    });

    it(`${file} has scripts that their shell can read`, async () => {
      for (const { id, script } of buildOf(file).steps) {
        if (script === undefined) continue;
        const shell = script.startsWith('#!/bin/sh') ? 'sh' : 'bash';
        const { exitCode, output } = await run(shell, ['-n'], {}, { input: script });
        expect(exitCode, `${id}: ${output}`).to.equal(0);
      }
    });
  }

  it('runs only scripts of package.json that there are', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const called = builds.flatMap((file) =>
      [...read(file).matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name]) => name),
    );
    expect(called).to.have.length.above(3);
    expect(Object.keys(scripts)).to.include.members(called);
  });

  it('deploys in images that a trigger can name by their digests', () => {
    const { steps } = buildOf('terraform/delivery/deploy.cloudbuild.yaml');
    expect(new Set(steps.map(({ name }) => name))).to.have.keys('$_TERRAFORM_IMAGE', '$_CLOUD_SDK_IMAGE');
  });

  it('runs the tests that take long each night, by the commands of docs/operate/deploy.md', async () => {
    const trigger = parse(read('terraform/delivery/nightly-trigger.yaml')) as Record<string, unknown>;
    expect(faultsIn(trigger, schemas['BuildTrigger'] ?? {}, 'trigger')).to.deep.equal([]);
    const { args = [] } =
      buildOf('terraform/delivery/nightly.cloudbuild.yaml').steps.find(({ id }) => id === 'test') ?? {};
    expect(args.slice(-4)).to.deep.equal(['npm', 'run', '-s', 'test:nightly']);
    const { topic } = trigger['pubsubConfig'] as { topic: string };
    const deploy = read('docs/operate/deploy.md');
    expect(deploy).to.match(
      new RegExp(`gcloud scheduler jobs create pubsub [\\s\\S]*?--topic ${topic.split('/').at(-1)} `),
    );
    const fill = /^sed "s#<project>.*(?= >nightly-trigger\.yaml$)/m.exec(deploy)?.[0] ?? 'false';
    const filled = await run('bash', ['-c', fill.replaceAll(/\$([A-Z_]+)/g, 'my-$1')], {}, { cwd: projectFolder });
    expect(filled.output.replaceAll(/^#.*$/gm, '')).to.include('topics/plinth-nightly').and.not.match(/[<>]/);
  });

  it('deploys only after an approval', async () => {
    const trigger = parse(read('terraform/delivery/trigger.yaml')) as Record<string, unknown>;
    expect(faultsIn(trigger, schemas['BuildTrigger'] ?? {}, 'trigger')).to.deep.equal([]);
    expect(trigger).to.have.deep.property('approvalConfig', { approvalRequired: true });
    const { topic } = trigger['pubsubConfig'] as { topic: string };
    expect(read('cloudbuild.yaml'))
      .to.include(`gcloud pubsub topics publish ${topic.split('/').at(-1)} `)
      .and.not.match(/terraform apply|gcloud builds/);
    // The command of docs/operate/deploy.md leaves no gap.
    const fill = /^sed "s#<project>.*(?= >trigger\.yaml$)/m.exec(read('docs/operate/deploy.md'))?.[0] ?? 'false';
    const filled = await run('bash', ['-c', fill.replaceAll(/\$([A-Z_]+)/g, 'my-$1')], {}, { cwd: projectFolder });
    expect(filled.output.replaceAll(/^#.*$/gm, '')).to.include('topics/plinth-releases').and.not.match(/[<>]/);
    // All that the build takes; of the message it has one.
    const taken = Object.keys(buildOf('terraform/delivery/deploy.cloudbuild.yaml').substitutions ?? {});
    expect(trigger['substitutions']).to.have.all.keys(taken);
    expect(JSON.stringify(trigger['substitutions']).match(/body\.message[\w.]*/g)).to.deep.equal([
      'body.message.attributes.release',
    ]);
  });

  it("keeps terraform's state in a bucket that only the deployer reaches", () => {
    const deploy = read('docs/operate/deploy.md');
    expect(deploy).to.match(/^export .*STATE_BUCKET=\$PROJECT-plinth-state\b/m);
    expect(deploy.match(/^terraform .*-backend-config=.*$/gm)).to.deep.equal([
      'terraform -chdir=$DEPLOYMENT init -backend-config=bucket=$STATE_BUCKET',
    ]);
    expect(deploy).to.match(/^gcloud storage buckets update gs:\/\/\$STATE_BUCKET --versioning$/m);
    // Nobody is let into it, and of the identities only the deployer has the project's buckets.
    expect(deploy).to.not.match(/add-iam-policy-binding gs:\/\/\$STATE_BUCKET/);
    const commands = deploy.replaceAll('\\\n', ' ').split('\n');
    const ofProject = commands.filter((line) => /gcloud projects add-iam-policy-binding \$PROJECT /.test(line));
    expect(ofProject.filter((line) => /(?:\$RELEASER\b|plinth-nightly@)/.test(line))).to.have.length.above(0);
    expect(
      ofProject.filter((line) => /(?:\$RELEASER\b|plinth-nightly@).*roles\/(?!logging\.logWriter )/.test(line)),
    ).to.deep.equal([]);
    for (const example of ['minimal', 'full']) {
      expect(read(`terraform/examples/${example}/main.tf`)).to.not.match(
        /backend-config=bucket=<the release|bucket = "\S*releases"/,
      );
    }
    const { substitutions } = parse(read('terraform/delivery/trigger.yaml')) as {
      substitutions: Record<string, string>;
    };
    expect(substitutions).to.include({ _STATE_BUCKET: '<state-bucket>' });
  });

  describe('finds', () => {
    for (const [title, change, says] of mistakes) {
      it(title, () => {
        expect(judge(change({ ...buildOf('cloudbuild.yaml') })).join('\n')).to.match(says);
      });
    }
  });

  describe('the smoke test', () => {
    let scene: Scene;
    before(async () => {
      scene = await makeScene();
    });
    after(() => scene?.close());

    it('passes where plinth serves, for strangers and for somebody known', async () => {
      const { idToken } = await scene.stack.tokens('alice@example.com');
      const { exitCode, output } = await run(smoke, [scene.stack.url, scene.stack.url], { PLINTH_TOKEN: idToken });
      expect(exitCode, output).to.equal(0);
      expect(output)
        .to.match(/ok {6}401 .*\/bootstraps\n/)
        .and.match(/ok {6}200 .*\/bootstraps\n/);
      expect(output).not.to.include(idToken);
    });

    it('fails where something else answers', async () => {
      const other = await answering(() => ({ status: 404 }));
      try {
        const { exitCode, output } = await run(smoke, [scene.stack.url, other.url]);
        expect(exitCode).to.equal(1);
        expect(output).to.include(`FAILED  404 instead of 200  ${other.url}/openapi.json`);
      } finally {
        other.close();
      }
    });
  });

  describe('the smoke test of a release', () => {
    /** Plinth as far as strangers see it; each call of /health names the next release, or is refused, and the last one stays. */
    async function smokeOf(release: string, ...served: (string | number | undefined)[]) {
      const server = await answering(({ url = '' }) => {
        if (url !== '/health') return { status: /^\/(organizations|bootstraps)$/.test(url) ? 401 : 200 };
        const now = served.length > 1 ? served.shift() : served[0];
        return typeof now === 'number' ? { status: now } : { status: 200, body: JSON.stringify({ release: now }) };
      });
      try {
        return await run(smoke, [server.url, server.url, release], { PATH: `${impatient}:${process.env['PATH']}` });
      } finally {
        server.close();
      }
    }
    let impatient: string;
    before(() => {
      impatient = mkdtempSync(join(tmpdir(), 'plinth-impatient-'));
      putCommand(impatient, 'sleep', '#!/bin/sh\n');
    });
    after(() => rmSync(impatient, { recursive: true, force: true }));

    it('passes where that release serves', async () => {
      const { exitCode, output } = await smokeOf('2.1.0', '2.1.0');
      expect(exitCode, output).to.equal(0);
      expect(output).to.match(/ok {6}200 .*\/health \(release 2\.1\.0\)\n/);
    });

    it('waits a moment for traffic and rights to get there', async () => {
      const { exitCode, output } = await smokeOf('2.1.0', 403, 401, '2.0.9', '2.1.0');
      expect(exitCode, output).to.equal(0);
    });

    for (const [served, says] of [
      ['2.0.9', 'release 2.0.9'],
      [undefined, 'no release named'],
    ]) {
      it(`fails where another one serves: ${says}`, async () => {
        const { exitCode, output } = await smokeOf('2.1.0', served);
        expect(exitCode, output).to.equal(1);
        expect(output).to.include(`/health (${says} instead of 2.1.0)`);
      });
    }
  });

  describe('the smoke test behind IAM', () => {
    it('passes a front end that refuses strangers only where it is told that there is one', async () => {
      const front = await answering(() => ({ status: 403 }));
      try {
        expect((await run(smoke, [front.url, front.url])).exitCode).to.equal(1);
        const { exitCode, output } = await run(smoke, [front.url, front.url, '2.1.0'], { PLINTH_BEHIND_IAM: 'true' });
        expect(exitCode, output).to.equal(0);
        expect(output).to.include('/health (which release it is, was not seen)');
      } finally {
        front.close();
      }
    });

    for (const [title, refusals, patience, exitCode] of [
      ['waits for a front end that learns late whom to let in', 20, '600', 0],
      ['fails where it does not learn that in time', 20, '50', 1],
    ] as const) {
      it(title, async () => {
        let left: number = refusals;
        const front = await answering(({ url = '' }) => {
          if (left-- > 0) return { status: 403 };
          if (url === '/health') return { status: 200, body: JSON.stringify({ release: '2.1.0' }) };
          return { status: /^\/(organizations|bootstraps)$/.test(url) ? 401 : 200 };
        });
        const impatient = mkdtempSync(join(tmpdir(), 'plinth-impatient-'));
        putCommand(impatient, 'sleep', '#!/bin/sh\n');
        try {
          const ran = await run(smoke, [front.url, front.url, '2.1.0'], {
            PATH: `${impatient}:${process.env['PATH']}`,
            PLINTH_BEHIND_IAM: 'true',
            PLINTH_FRONT_TOKEN: 'the-token',
            PLINTH_SMOKE_PATIENCE: patience,
          });
          expect(ran.exitCode, ran.output).to.equal(exitCode);
          // Said once, however long it takes.
          expect(ran.output.match(/^waits .*$/gm)).to.deep.equal([
            `waits   403  ${front.url}/health (until IAM knows that this token may pass: ${patience} s at most)`,
          ]);
          if (exitCode === 1) expect(ran.output).to.include(`FAILED  403 instead of 200  ${front.url}/health`);
        } finally {
          front.close();
          rmSync(impatient, { recursive: true, force: true });
        }
      });
    }

    it('shows the front end its token with every call, and plinth only where it asks as somebody', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'plinth-smoke-'));
      const front = await answering(({ url, headers }) => {
        if (headers['x-serverless-authorization'] !== 'Bearer the-token') return { status: 403 };
        const stranger = headers.authorization !== 'Bearer the-token';
        return { status: stranger && /^\/(organizations|bootstraps)$/.test(url ?? '') ? 401 : 200 };
      });
      try {
        // What a list of processes would show.
        const curl = (await run('which', ['curl'])).output.trim();
        putCommand(folder, 'curl', `#!/bin/sh\necho "$@" >>"$CALLS"\nexec ${curl} "$@"\n`);
        const { exitCode, output } = await run(smoke, [front.url, front.url], {
          PATH: `${folder}:${process.env['PATH']}`,
          CALLS: join(folder, 'calls'),
          PLINTH_TOKEN: 'the-token',
          PLINTH_BEHIND_IAM: 'true',
        });
        expect(exitCode, output).to.equal(0);
        expect(front.asked.filter(({ headers }) => headers.authorization !== undefined)).to.have.lengthOf(1);
        expect(readFileSync(join(folder, 'calls'), 'utf8'))
          .to.include(`${front.url}/bootstraps`)
          .and.not.include('the-token');
      } finally {
        front.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });

  it('rolls back to the revisions that were noted, function by function', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-roll-back-'));
    try {
      // A gcloud that writes down what it is asked, and knows each service but the last; what serves is not what is newest.
      const traffic =
        '{"status":{"traffic":[{"revisionName":"%s-00008-new"},{"revisionName":"%s-00007-abc","percent":100}]}}';
      writeFileSync(
        join(folder, 'gcloud'),
        `#!/bin/sh
        echo "$@" >>"$CALLS"
        [ -n "$REFUSED" ] && exit 1
        [ "$3" = list ] && printf '%s\\n' api bootstraps run-cloud-step run-host-step sweep check
        [ "$3" = describe ] && printf '${traffic}\\n' "$4" "$4"
        exit 0
        `,
        { mode: 0o755 },
      );
      const env = { PATH: `${folder}:${process.env['PATH']}`, CALLS: join(folder, 'calls'), REFUSED: '' };
      const file = join(folder, 'revisions');
      const at = ['plinth-test', 'europe-west4', file];
      const script = join(projectFolder, '.ci/roll-back');
      expect((await run(script, ['note', ...at], env)).exitCode).to.equal(0);
      const noted = readFileSync(file, 'utf8').trim().split('\n');
      expect(noted.map((line) => line.split(' ')[0])).to.have.members(
        Object.values(functionNames).filter((name) => name !== 'cleanup'),
      );
      writeFileSync(env.CALLS, '');
      expect((await run(script, ['go', ...at], env)).exitCode).to.equal(0);
      const moved = readFileSync(env.CALLS, 'utf8').trim().split('\n');
      expect(moved).to.have.length(noted.length);
      expect(moved[0]).to.match(
        /^run services update-traffic \S+ --project plinth-test .* --to-revisions \S+-00007-abc=100/,
      );
      // Who may not look finds nothing out, and must not take that for a first deployment.
      expect((await run(script, ['note', ...at], { ...env, REFUSED: 'yes' })).exitCode).to.equal(1);
      writeFileSync(file, '');
      expect((await run(script, ['go', ...at], env)).output).to.include('no revision was noted');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
