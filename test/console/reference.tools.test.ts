/** The story of the reference of the APIs, in Chromium: the way there and back, an operation, what it leads to, and its looks. */
import { expect } from 'chai';
import { createStack } from '../../local/stack/stack.js';
import { signIn } from '../../tools/images/browser.js';
import { expectAccessible, inChromium } from './browser.js';

describe('the reference of the APIs', function () {
  this.timeout(300_000);
  const at = inChromium({ personFor: 'each test' }, createStack);

  it('is there for everybody, in light and dark, and leads from an operation to its schema', async () => {
    const { page } = at.person;
    await page.goto(`${at.world.url}/docs`);
    const making = page.locator('details', { has: page.getByText('POST /teams', { exact: true }) });
    await making.locator('summary').click();
    await making.getByRole('table', { name: 'Errors' }).waitFor();
    await making.getByText('"teamId": ').waitFor();
    await making.getByRole('link', { name: 'NewTeam', exact: true }).click();
    await page.getByRole('table', { name: 'NewTeam', exact: true }).waitFor();
    expect(page.url()).to.match(/#organizations-schema-NewTeam$/);
    await expectAccessible(at.person);
  });

  it('is one link away from the console, and leads back there', async () => {
    const { person, world: stack } = at;
    await signIn(person, stack.url, 'alice@example.com');
    await person.page.getByRole('heading', { name: 'Projects' }).waitFor();
    await person.page.getByRole('link', { name: 'API' }).click();
    await person.page.getByRole('heading', { name: 'APIs' }).waitFor();
    await person.page.getByRole('link', { name: 'Console' }).click();
    await person.page.getByRole('heading', { name: 'Projects' }).waitFor();
    expect(person.page.url()).to.contain(stack.url);
  });
});
