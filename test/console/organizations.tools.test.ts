/** The console's stories of organizations, in Chromium: members, invitations, the migration of a team and its undo. */
import { expect } from 'chai';
import { createStack } from '../../local/stack/stack.js';
import type { Member } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import { signIn } from '../../tools/images/browser.js';
import { expectAccessible, inChromium, makePerson } from './browser.js';

const alice = 'alice@example.com';
const script = '<img src=x onerror=alert(1)>';

describe('the console: organizations', function () {
  this.timeout(300_000);
  const at = inChromium({ personFor: 'all tests' }, createStack);
  before(() => signIn(at.person, at.world.url, alice));

  const as = async <T>(email: string, method: string, path: string, body?: object): Promise<T> => {
    const { idToken } = await at.world.tokens(email);
    const reply = await fetch(at.world.url + path, {
      method,
      headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await reply.json()) as T;
  };
  const membersOf = async (teamId: number): Promise<string[]> =>
    (await as<Member[]>(alice, 'GET', `/teams/${teamId}/members`)).map(({ email }) => email).sort();

  it('are made with a script for a name, which is shown as its letters', async () => {
    const { page } = at.person;
    await page.getByRole('link', { name: 'Organizations' }).click();
    await page.getByRole('button', { name: 'New organization' }).click();
    await page.getByLabel('Name').fill(script);
    const asking = page.waitForRequest((each) => each.method() === 'POST' && each.url().endsWith('/organizations'));
    await page.getByRole('button', { name: 'Make' }).click();
    expect((await asking).headers()['idempotency-key']).to.match(/^[\da-f-]{36}$/);
    await page.getByRole('heading', { name: script, level: 1 }).waitFor();
    expect(await page.locator('img').count()).to.equal(0);
  });

  it('get members, who change their role and leave', async () => {
    const { page } = at.person;
    await page.getByRole('button', { name: 'Add a member' }).click();
    await page.getByLabel('E-mail address').fill('bob@example.com');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel('Role of bob@example.com').selectOption('admin');
    await page.getByText('alice@example.com: member role changed bob@example.com').waitFor({ timeout: 20_000 });
    await page.getByRole('button', { name: 'Remove bob@example.com' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByLabel('Role of bob@example.com').waitFor({ state: 'detached' });
  });

  it('invite people, who join', async () => {
    const { page } = at.person;
    await page.getByRole('button', { name: 'Invite people' }).click();
    await page.getByLabel('E-mail addresses').fill('carol@example.com\nno address');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('E-mail addresses').fill('carol@example.com');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('button', { name: 'Take back the invitation of carol@example.com' }).waitFor();
    const carol = await makePerson(at.browser);
    await signIn(carol, at.world.url, 'carol@example.com');
    await carol.page.getByRole('link', { name: 'Organizations' }).click();
    await carol.page.getByRole('button', { name: `Join ${script}` }).click();
    await carol.page.getByRole('link', { name: script }).waitFor();
    await expectAccessible(carol);
    expect(carol.faults).to.deep.equal([]);
    await carol.close();
  });

  it('take a team in only once it is said who leaves, and give it back', async () => {
    const { page } = at.person;
    const { teamId } = await as<Team>(alice, 'POST', '/teams', { name: `team ${script}` });
    await as(alice, 'POST', `/teams/${teamId}/members`, { email: 'zoe@example.org' });
    await page.reload();
    await page.getByRole('button', { name: 'Bring a team in' }).click();
    await page.getByLabel('Number of a standalone team').fill(String(teamId));
    await page.getByLabel('Number of a standalone team').press('Tab');
    await page.getByRole('heading', { name: 'Members who leave' }).waitFor();
    await page.getByText('zoe@example.org').waitFor();
    const migrate = page.getByRole('button', { name: 'Migrate' });
    expect(await migrate.isDisabled()).to.equal(true);
    await expectAccessible(at.person);
    await page.getByLabel('Remove them from the team').check();
    await migrate.click();
    await page.getByRole('link', { name: `team ${script}` }).click();
    await page.getByRole('heading', { name: `team ${script}`, level: 1 }).waitFor();
    expect(await membersOf(teamId)).to.deep.equal([alice]);
    await expectAccessible(at.person);
    await page.getByRole('button', { name: 'Undo migration' }).click();
    await page.getByRole('dialog').getByText('zoe@example.org').waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('standalone').waitFor();
    expect(await membersOf(teamId)).to.deep.equal([alice, 'zoe@example.org']);
  });
});
