/** The console's stories of projects, in Chromium, against the functions: by mouse, and when things go wrong. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { collections } from '../../shared/names.js';
import { signIn } from '../../tools/images/browser.js';
import { makeScene, succeeded } from '../support/scene.js';
import { expectAccessible, inChromium } from './browser.js';
import { startRelay } from './relay.js';

const alice = 'alice@example.com';
/** Names of projects take no brackets. People's words do. */
const script = '<img src=x onerror=alert(1)>';

/** An answer that the page waits for. */
interface Held {
  readonly status: number;
  release(): Promise<void>;
}

/** `bootstraps` has a host of its own. */
async function makeWorld() {
  const relay = await startRelay();
  const scene = await makeScene({ timeFactor: 0.01, settings: { PLINTH_BOOTSTRAPS_URL: relay.url } });
  const { url } = scene.stack;
  relay.leadTo(url);
  const close = async () => {
    await relay.stop();
    await scene.close();
  };
  return { scene, relay, url, close };
}

describe('the console: projects', function () {
  this.timeout(300_000);
  const at = inChromium({ personFor: 'each test' }, makeWorld);

  it('say what to do where there are none, and ask no other host for anything', async () => {
    const { person, world } = at;
    const { scene, relay, url } = world;
    const { page } = person;
    await page.goto(url);
    await page.getByRole('heading', { name: 'Throw-away' }).waitFor();
    await expectAccessible(person);
    await signIn(person, url, 'newcomer@example.com');
    await page.getByText('You have no projects yet').waitFor();
    await expectAccessible(person);
    const hosts = new Set(person.asked.map((address) => new URL(address).origin));
    expect([...hosts].sort()).to.deep.equal([url, relay.url, scene.stack.record.issuerUrl].sort());
    expect(await page.evaluate('Object.keys(localStorage).length + Object.keys(sessionStorage).length')).to.equal(0);
    expect(await page.evaluate('document.cookie')).to.equal('');
  });

  it('move while they are made: a refresh in the middle and a killed function change nothing', async () => {
    const { person, world } = at;
    const { scene, relay, url } = world;
    const { page } = person;
    const caller = await scene.caller(alice);
    await signIn(person, url, alice);
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    scene.cloud.faults.add({ method: 'compute.subnetworks.insert', kind: 'slow', delaySeconds: 600, when: 'after' });
    const making = caller.bootstrap('moves');
    await page.getByRole('link', { name: 'moves' }).click();
    await page.getByRole('heading', { name: 'moves' }).waitFor();
    const steps = page.locator('.step.done');
    await steps.nth(5).waitFor();
    await page.getByText('critical path so far').waitFor();
    await page.reload();
    await steps.nth(5).waitFor();
    expect(new URL(page.url()).hash).to.match(/^#\/projects\/b/);
    await relay.stop();
    await page.getByText('plinth cannot be reached.').waitFor({ timeout: 60_000 });
    expect(await steps.count()).to.be.greaterThan(5);
    await relay.start();
    await page.getByText('plinth cannot be reached.').waitFor({ state: 'detached', timeout: 60_000 });
    scene.cloud.faults.clear();
    succeeded(await making);
    await page.locator('.head .state', { hasText: 'succeeded' }).waitFor();
    await page.getByRole('heading', { name: 'What was made' }).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download config.yaml of dev' }).click();
    const file = await (await downloading).path();
    expect(readFileSync(file, 'utf8')).to.equal(caller.read('config.yaml'));
    await expectAccessible(person);
  });

  it('are extended, protected, shared and removed by mouse, with the questions of the command line', async () => {
    const { person, world } = at;
    const { scene, url } = world;
    const { page } = person;
    const view = succeeded(await (await scene.caller(alice)).bootstrap('by-mouse'));
    await signIn(person, url, alice);
    const row = page.getByRole('row', { name: 'by-mouse' });
    await page.getByRole('button', { name: 'Extend by-mouse' }).click();
    const question = page.getByRole('dialog');
    await question.getByLabel('How long from now').fill('soon');
    await question.getByRole('button', { name: 'Extend' }).click();
    await question.getByRole('alert').waitFor();
    await question.getByLabel('How long from now').fill('9h');
    await question.getByRole('button', { name: 'Extend' }).click();
    await row.getByText('8h 59m left').waitFor();
    await page.getByText(/until removal\. These are estimates; their oldest price is of \d{4}-\d{2}-\d{2}/).waitFor();

    await page.getByRole('button', { name: 'Protect by-mouse' }).click();
    await question.getByLabel('Why').fill('A demo');
    await question.getByLabel('How long').fill('99999999999d');
    await question.getByRole('button', { name: 'Protect' }).click();
    await question.getByText('must be a duration such as 2d').first().waitFor();
    await question.getByLabel('How long').fill('1d23h59m');
    await expectAccessible(person);
    await question.getByRole('button', { name: 'Protect' }).click();
    await row.getByText('protected: A demo').waitFor();

    await page.getByRole('link', { name: 'by-mouse' }).click();
    await page.getByRole('heading', { name: 'by-mouse' }).waitFor();
    await page.getByRole('button', { name: 'Share' }).click();
    await question.getByLabel('E-mail address').fill('bob@example.com');
    await question.getByRole('button', { name: 'Share' }).click();
    await page.getByText('bob@example.com').waitFor();
    expect((await scene.view(view.id)).sharedWith).to.deep.equal(['bob@example.com']);

    await page.getByRole('button', { name: 'Remove' }).click();
    await question.getByLabel('Type the name').fill('by-mous');
    await question.getByText('project by-mouse').first().waitFor();
    expect(await question.getByRole('button', { name: 'Remove' }).isDisabled()).to.equal(true);
    await question.getByLabel('Type the name').fill('by-mouse');
    await question.getByRole('button', { name: 'Remove' }).click();
    // It is protected: that is said within the question.
    await question.getByRole('alert').waitFor();
    expect((await scene.view(view.id)).removal).to.equal(undefined);
  });

  it("show a script in people's words as its letters", async () => {
    const { person, world } = at;
    const { scene, url } = world;
    const { page } = person;
    const caller = await scene.caller(alice);
    const view = succeeded(await caller.bootstrap('scripted'));
    const { idToken } = await scene.stack.tokens(alice);
    await fetch(`${url}/bootstraps/${view.id}/protect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ until: new Date(Date.now() + 3_600_000 * 9).toISOString(), reason: script }),
    });
    await signIn(person, url, alice);
    await page.getByText(`protected: ${script}`).waitFor();
    await page.goto(`${url}/#/projects/${view.id}`);
    await page.getByText(script).waitFor();
    expect(await page.locator('img').count()).to.equal(0);
    await page.goto(`${url}/#/projects/${encodeURIComponent(script)}`);
    await page.getByRole('alert').waitFor();
    await page.goto(`${url}/#/${encodeURIComponent(script)}`);
    await page.getByText('There is no such place').waitFor();
  });

  it('tell what failed and the way out', async () => {
    const { person, world } = at;
    const { scene, url } = world;
    const { page } = person;
    scene.cloud.faults.add({ method: 'compute.networks.insert', times: 0, code: 400, message: `no ${script}` });
    const { result } = await (await scene.caller(alice)).bootstrap('fails');
    scene.cloud.faults.clear();
    expect(result.bootstrap?.state).to.equal('failed');
    await signIn(person, url, alice);
    await page.getByRole('link', { name: 'fails' }).click();
    const failed = page.getByRole('region', { name: 'What failed' });
    await failed.getByText('Network', { exact: false }).first().waitFor();
    await failed.getByText('The same command again').first().waitFor();
    await expectAccessible(person);
  });

  it('are forgotten by every tab when one signs out', async () => {
    const { person, world } = at;
    const { url } = world;
    const { page, context } = person;
    await signIn(person, url, alice);
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    const other = await context.newPage();
    await other.goto(url);
    await other.getByRole('heading', { name: 'Projects' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await other.getByText('You signed out in another tab.').waitFor();
    await other.reload();
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('are shown by every tab when one signs in', async () => {
    const { person, world } = at;
    const { url } = world;
    const { page, context } = person;
    const other = await context.newPage();
    await other.goto(url);
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
    await signIn(person, url, alice);
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    await other.getByRole('heading', { name: 'Projects' }).waitFor();
  });

  it('stay forgotten when an answer from before the sign-out comes late', async () => {
    const { person, world } = at;
    const { url } = world;
    const { page, context } = person;
    await signIn(person, url, alice);
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    const other = await context.newPage();
    const holding = new Promise<Held>((resolve) => {
      void other.route('**/console/session', async (route) => {
        const response = await route.fetch();
        resolve({ status: response.status(), release: () => route.fulfill({ response }) });
      });
    });
    await other.goto(url);
    const { status, release } = await holding;
    expect(status).to.equal(200);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await other.getByText('You signed out in another tab.').waitFor();
    await release();
    await other.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
    expect(await other.getByRole('button', { name: 'Sign in' }).count()).to.equal(1);
  });

  it('are back in their place after a session that has ended', async () => {
    const { person, world } = at;
    const { scene, url } = world;
    const { page } = person;
    await page.clock.install();
    await signIn(person, url, 'late@example.com');
    await page.getByRole('link', { name: 'Organizations' }).click();
    await page.getByText('You are in no organization.').waitFor();
    const { store } = scene.stack.functionsHalf ?? {};
    for (const { id } of (await store?.query({ collection: collections.consoleSessions })) ?? []) {
      await store?.commit([{ kind: 'delete', collection: collections.consoleSessions, id }]);
    }
    await page.clock.fastForward('01:00:00');
    await page.getByText('Your session has ended.').waitFor();
    await expectAccessible(person);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('E-mail address').fill('late@example.com');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('You are in no organization.').waitFor();
  });
});
