/** The console's story of an organization by the keyboard alone: members, an invitation, the migration of a team, its undo. */
import { expect } from 'chai';
import { createStack } from '../../local/stack/stack.js';
import type { Member } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import { inChromium, press, signInByKeys, tabTo, type } from './browser.js';

const [alice, bob, carol, zoe] = ['alice@example.com', 'bob@example.com', 'carol@example.com', 'zoe@example.org'];

describe('the console by the keyboard alone', function () {
  this.timeout(300_000);
  const at = inChromium({ personFor: 'all tests' }, createStack);

  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const { idToken } = await at.world.tokens(alice);
    const headers = { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' };
    const reply = await fetch(at.world.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return (await reply.json()) as T;
  };
  const membersOf = async (teamId: number): Promise<string[]> =>
    (await ask<Member[]>('GET', `/teams/${teamId}/members`)).map(({ email }) => email).sort();
  it('makes an organization, from signing in', async () => {
    const { person } = at;
    const { page } = person;
    await page.goto(at.world.url);
    await signInByKeys(person, alice);
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    await press(person, 'Organizations');
    await page.getByText('You are in no organization.').waitFor();
    await press(person, 'New organization');
    await page.getByRole('dialog').waitFor();
    await type(person, 'Name', 'acme');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'acme', level: 1 }).waitFor();
  });

  it('adds a member, changes their role, and removes them, but not without a yes', async () => {
    const { person } = at;
    const { page } = person;
    await press(person, 'Add a member');
    await page.getByRole('dialog').waitFor();
    await type(person, 'E-mail address', bob);
    await page.keyboard.press('Enter');
    const role = page.getByLabel(`Role of ${bob}`);
    await role.waitFor();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await tabTo(person, `Role of ${bob}`);
    await page.keyboard.type('admin');
    await page.getByText(`member role changed ${bob}`).waitFor();
    await press(person, `Remove ${bob}`);
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    // A dialog that the browser closed has no role any more, and is still there for a moment.
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement?.getAttribute("aria-label")')).to.equal(`Remove ${bob}`);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await press(person, 'Remove');
    await role.waitFor({ state: 'detached' });
    await page.locator('dialog').waitFor({ state: 'detached' });
  });

  it('invites somebody, and takes it back', async () => {
    const { person } = at;
    const { page } = person;
    await press(person, 'Invite people');
    await page.getByRole('dialog').waitFor();
    await type(person, 'E-mail addresses', carol);
    await press(person, 'Invite');
    await page.getByText('Nobody is invited.').waitFor({ state: 'detached' });
    await page.locator('dialog').waitFor({ state: 'detached' });
    await press(person, `Take back the invitation of ${carol}`);
    await page.getByText('Nobody is invited.').waitFor();
  });

  it('takes a team in once it is said who leaves, and gives it back', async () => {
    const { person } = at;
    const { page } = person;
    const { teamId } = await ask<Team>('POST', '/teams', { name: 'platform' });
    await ask('POST', `/teams/${teamId}/members`, { email: zoe });
    await press(person, 'Bring a team in');
    const question = page.getByRole('dialog');
    await question.waitFor();
    await type(person, 'Number of a standalone team', String(teamId));
    await page.keyboard.press('Tab');
    await question.getByText(zoe).waitFor();
    await press(person, 'Remove them from the team', 'Space');
    await press(person, 'Migrate');
    await page.getByRole('link', { name: 'platform' }).waitFor();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await membersOf(teamId)).to.deep.equal([alice]);
    await press(person, 'platform');
    await page.getByRole('heading', { name: 'platform', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Undo migration' }).waitFor();
    await press(person, 'Undo migration');
    await question.getByText(zoe).waitFor();
    await press(person, 'Undo');
    await page.getByText('standalone').waitFor();
    expect(await membersOf(teamId)).to.deep.equal([alice, zoe]);
  });
});
