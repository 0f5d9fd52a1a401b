/** The console's story of a project by the keyboard alone: it is found, extended, protected, shared, looked at and removed. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { makeScene, succeeded } from '../support/scene.js';
import { expectAccessible, inChromium, press, signInByKeys, tabTo, type } from './browser.js';

const [keys, bob] = ['keys@example.com', 'bob@example.com'];

describe('the console by the keyboard alone: a project', function () {
  this.timeout(300_000);
  const at = inChromium({ personFor: 'all tests' }, () => makeScene({ timeFactor: 0 }));
  let id: string;
  before(async () => {
    const caller = await at.world.caller(keys);
    id = succeeded(await caller.bootstrap('by-keys')).id;
    succeeded(await caller.bootstrap('other'));
  });

  const question = () => at.person.page.getByRole('dialog');
  const view = () => at.world.view(id, keys);
  /** A question that was answered is gone before the next key. */
  const answered = () => at.person.page.locator('dialog').waitFor({ state: 'detached' });
  const focused = () => at.person.page.evaluate('document.activeElement?.getAttribute("aria-label")');

  it('is found in the list, from signing in', async () => {
    const { person, world } = at;
    const { page } = person;
    await page.goto(world.stack.url);
    await signInByKeys(person, keys);
    await page.getByRole('link', { name: 'other' }).waitFor();
    await type(person, 'Find by name, owner or state', 'by-k');
    await page.getByRole('link', { name: 'other' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'by-keys' }).waitFor();
  });

  it('gets more time, after a wrong answer, and not after Escape', async () => {
    const { person } = at;
    const { page } = person;
    const { deadlineAt } = await view();
    await press(person, 'Extend by-keys');
    await question().waitFor();
    await page.keyboard.press('Escape');
    await answered();
    expect([await focused(), (await view()).deadlineAt]).to.deep.equal(['Extend by-keys', deadlineAt]);
    await page.keyboard.press('Enter');
    await question().waitFor();
    await type(person, 'How long from now', 'soon');
    await page.keyboard.press('Enter');
    await question().getByRole('alert').waitFor();
    await expectAccessible(person);
    await type(person, 'How long from now', '9h');
    await page.keyboard.press('Enter');
    await answered();
    expect(await focused()).to.equal('Extend by-keys');
    await page.getByRole('row', { name: 'by-keys' }).getByText('8h 59m left').waitFor();
    expect((await view()).deadlineAt > deadlineAt).to.equal(true);
  });

  it('is protected, with a reason', async () => {
    const { person } = at;
    const { page } = person;
    await press(person, 'Protect by-keys');
    await question().waitFor();
    await type(person, 'How long from now, such as', '1d23h59m');
    await type(person, 'Why', 'A demo');
    await page.keyboard.press('Enter');
    await answered();
    await page.getByRole('row', { name: 'by-keys' }).getByText('protected: A demo').waitFor();
    expect((await view()).protection).to.include({ by: keys, reason: 'A demo' });
  });

  it('is shared, on its page', async () => {
    const { person } = at;
    const { page } = person;
    await press(person, 'by-keys');
    await page.getByRole('heading', { name: 'by-keys', level: 1 }).waitFor();
    await press(person, 'Share');
    await question().waitFor();
    await expectAccessible(person);
    await type(person, 'E-mail address', bob);
    await page.keyboard.press('Enter');
    await answered();
    await page.getByText(bob).waitFor();
    expect((await view()).sharedWith).to.deep.equal([bob]);
  });

  it('gives its config file', async () => {
    const { person } = at;
    const downloading = person.page.waitForEvent('download');
    await press(person, 'Download config.yaml of dev');
    const file = await (await downloading).path();
    expect(readFileSync(file, 'utf8')).to.include(`id: ${id}`);
  });

  it('is removed only by its exact name, and not while it is protected', async () => {
    const { person, world } = at;
    const { page } = person;
    await press(person, 'Remove');
    await question().getByText('project by-keys').first().waitFor();
    await page.keyboard.press('Escape');
    await answered();
    expect(await page.evaluate('document.activeElement?.textContent')).to.equal('Remove');
    await page.keyboard.press('Enter');
    await question().getByText('project by-keys').first().waitFor();
    await type(person, 'Type the name', 'by-key');
    await page.keyboard.press('Enter');
    expect(await question().getByRole('button', { name: 'Remove' }).isDisabled()).to.equal(true);
    await page.keyboard.type('s');
    await page.keyboard.press('Enter');
    await question().getByRole('alert').waitFor();
    await expectAccessible(person);
    expect((await view()).removal).to.equal(undefined);

    const { idToken } = await world.stack.tokens(keys);
    const headers = { authorization: `Bearer ${idToken}` };
    await fetch(`${world.stack.url}/bootstraps/${id}/unprotect`, { method: 'POST', headers });
    await press(person, 'Remove');
    await page.locator('.head .state', { hasText: 'removed' }).waitFor();
    expect((await view()).state).to.equal('removed');
  });

  it('is in the list again among removed projects', async () => {
    const { person } = at;
    const { page } = person;
    await press(person, 'Projects');
    await page.getByRole('link', { name: 'other' }).waitFor();
    expect(await page.getByRole('link', { name: 'by-keys' }).count()).to.equal(0);
    await tabTo(person, 'Removed projects');
    await page.keyboard.press('Space');
    await page.getByRole('link', { name: 'by-keys' }).waitFor();
  });
});
