/** The release in a private bucket: jumpboxes fetch plinth by a signed URL, which stands nowhere, and one that lacks is told before anything is made. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { people } from '../../local/stack/deployment.js';
import { collections } from '../../shared/names.js';
import { needMachines } from '../support/machines.js';
import { type Caller, changesIn, makeScene, type Scene, succeeded } from '../support/scene.js';

const bucket = 'plinth-local-plinth-releases';
const signature = /X-Goog-Signature/i;

/** The command lines of all processes, simulated machines' too, until it is called. */
function watchArguments(): () => readonly string[] {
  const seen = new Set<string>();
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        seen.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      } catch {
        // It has just ended.
      }
    }
  }, 20);
  return () => {
    clearInterval(timer);
    return [...seen];
  };
}

describe('the release in a private bucket', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;

  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
  });
  after(() => scene?.close());

  const ask = (path: string, email?: string, method = 'GET') =>
    fetch(`${scene.cloud.endpoints.storage}${path}`, {
      method,
      headers: email === undefined ? {} : { authorization: `Bearer ${scene.cloud.identity.accessToken(email)}` },
    });
  const listed = async (): Promise<string[]> => {
    const reply = await ask(`/storage/v1/b/${bucket}/o`, people.admin);
    const { items = [] } = (await reply.json()) as { items?: { name: string }[] };
    return items.map(({ name }) => name);
  };
  const onJumpbox = async (name: string, command: string) =>
    (await runPlinth(['beta', 'bootstrap-cloud', 'ssh', name, '--', command], alice)).stdout.trim();

  it('lies under its version and its SHA-256, and is nobody else’s to read', async () => {
    const [name = ''] = await listed();
    expect(name).to.match(/^releases\/v[\d.]+\/[0-9a-f]{64}\/plinth-linux-amd64$/);
    const path = `/storage/v1/b/${bucket}/o/${encodeURIComponent(name)}?alt=media`;
    for (const email of [undefined, people.alice]) expect((await ask(path, email)).status).to.be.oneOf([401, 403]);
  });

  it('comes to the jumpbox by a signed URL that nothing shows or keeps', async () => {
    const argumentLists = watchArguments();
    const made = await alice.bootstrap('signed', { verbose: true });
    succeeded(made);
    const lists = argumentLists();
    expect(lists.some((list) => /(^|\0)curl\0.*--config\0-\0/.test(list))).to.equal(true);
    expect(lists.filter((list) => signature.test(list))).to.deep.equal([]);
    const [, , sha256 = ''] = (await listed())[0]?.split('/') ?? [];
    expect(await onJumpbox('signed', 'sha256sum < /usr/local/bin/plinth')).to.equal(`${sha256}  -`);
    expect(`${made.stdout}${made.stderr}${scene.stack.logs.join('\n')}`)
      .to.include('signBlob')
      .and.not.match(signature);
    for (const collection of Object.values(collections)) {
      for (const { data } of (await scene.stack.functionsHalf?.store.query({ collection })) ?? []) {
        expect(JSON.stringify(data)).to.not.match(signature);
      }
    }
    const kept =
      'grep -rlI --exclude-dir=plinth-local X-Goog-Signature= /run /tmp /etc /root /home /var /usr/local 2>/dev/null | head';
    expect(await onJumpbox('signed', kept)).to.equal('');
  });

  it('is missed before anything is made, by its name and with the command that puts it there', async () => {
    const [name = ''] = await listed();
    expect(
      (await ask(`/storage/v1/b/${bucket}/o/${encodeURIComponent(name)}`, people.admin, 'DELETE')).status,
    ).to.equal(204);
    const since = scene.cloud.calls.last();
    const refused = await alice.bootstrap('missing');
    expect(refused.exitCode, refused.stdout).to.equal(2);
    expect(`${refused.stdout}${refused.stderr}`)
      .to.include(`gs://${bucket}/${name}`)
      .and.include(
        `gcloud storage cp --no-clobber dist/release/${name.replace(/^releases\//, '')} gs://${bucket}/${name}`,
      )
      .and.include('--remote-cli-binary');
    expect(changesIn(scene.cloud, since)).to.deep.equal([]);
    // What has its plinth goes on.
    succeeded(await alice.bootstrap('signed', { verbose: true }));
  });
});
