/** The story of the page to try the API, in Chromium: who is signed in, groups, examples, sending, and a command to copy. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createStack } from '../../local/stack/stack.js';
import { signIn } from '../../tools/images/browser.js';
import { expectAccessible, inChromium, press, signInByKeys, tabTo } from './browser.js';

const [alice, bob] = ['alice@example.com', 'bob@example.com'];
const script = '<img src=x onerror=alert(1)>';

describe('the page to try the API', function () {
  this.timeout(300_000);
  const at = inChromium({ personFor: 'each test' }, createStack);
  const urlOf = () => `${at.world.url}/docs`;

  const operation = (title: string) =>
    at.person.page.locator('main details', { has: at.person.page.getByText(title, { exact: true }) }).first();

  it('has its operations in groups, each with an example', async () => {
    const { page } = at.person;
    await page.goto(urlOf());
    const teams = page.locator('section', { has: page.getByRole('heading', { name: 'Teams', exact: true }) });
    await teams.getByText('POST /teams', { exact: true }).click();
    expect(await teams.getByText('POST /organizations', { exact: true }).count()).to.equal(0);
    const making = operation('POST /teams');
    expect(JSON.parse(await making.getByLabel('Body').inputValue())).to.deep.equal({ name: 'acme' });
    await making.getByText('An answer, such as').click();
    await making.getByText('"teamId": ').waitFor();
    await page.getByRole('link', { name: 'Migration' }).click();
    await operation('GET /teams/{teamId}/migration').click();
    await expectAccessible(at.person);
  });

  it('calls as who signs in there, by the keyboard alone, and as nobody after a sign-out in another tab', async () => {
    const { person, world: stack } = at;
    const { page, context } = person;
    await page.goto(urlOf());
    await signInByKeys(person, alice);
    await page.getByText(`You are signed in as ${alice}.`).waitFor();
    expect(page.url()).to.equal(urlOf());
    await press(person, 'POST /organizations');
    await tabTo(person, 'Body');
    await page.keyboard.press('Control+A');
    await page.keyboard.type(JSON.stringify({ name: script }));
    await press(person, 'Send');
    await operation('POST /organizations').getByText('201 Created').waitFor();
    expect(await page.locator('img').count()).to.equal(0);
    await expectAccessible(person);

    const other = await context.newPage();
    await other.goto(stack.url);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByText('You are signed out.').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await operation('POST /organizations').getByRole('button', { name: 'Send' }).click();
    await operation('POST /organizations').getByText('401 Unauthorized').waitFor();
  });

  for (const told of [false, true]) {
    it(`sends nothing as somebody who has signed in ${told ? 'in a tab that tells it' : 'unheard'}, before it has said so`, async () => {
      const { person, world: stack } = at;
      const { page, context } = person;
      await page.clock.install();
      await signIn(person, stack.url, alice);
      await page.getByRole('heading', { name: 'Projects' }).waitFor();
      await page.goto(urlOf());
      await page.getByText(`You are signed in as ${alice}.`).waitFor();
      await page.getByText('POST /organizations', { exact: true }).click();
      const making = operation('POST /organizations');
      await making.getByLabel('Body').fill('{"name":"hers"}');

      const other = await context.newPage();
      await other.goto(`${stack.url}/console/sign-in?to=/docs`);
      await other.getByLabel('E-mail address').fill(bob);
      await other.getByRole('button', { name: 'Log in' }).click();
      await other.getByText(`You are signed in as ${bob}.`).waitFor();
      if (told) {
        await other.goto(stack.url);
        await page.getByText(`You are signed in as ${bob}.`).waitFor();
      } else await page.clock.fastForward('01:00:00');

      await making.getByRole('button', { name: 'Send' }).click();
      await making.getByText(`You are signed in as ${bob} by now. Nothing was sent.`).waitFor();
      expect(person.asked).to.not.include(`${stack.url}/organizations`);
      await making.getByRole('button', { name: 'Send' }).click();
      await making.getByText('201 Created').waitFor();
    });
  }

  it('knows who is signed in to the console, and gives a command that does the same', async () => {
    const { person, world: stack } = at;
    const { page, context } = person;
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stack.url });
    await signIn(person, stack.url, alice);
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    await page.getByRole('link', { name: 'API' }).click();
    await page.getByText(`You are signed in as ${alice}.`).waitFor();
    await page.getByText('POST /teams', { exact: true }).click();
    const making = operation('POST /teams');
    await making.getByLabel('Body').fill('{"name":"it\'s ours"}');
    await making.getByLabel('Idempotency-Key').fill('one-key');
    await making.getByRole('button', { name: 'Copy as curl' }).click();
    await making.getByText('Copied.').waitFor();
    const command = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect(command).to.include("--header 'Idempotency-Key: one-key'").and.not.match(/eyJ/);
    const { idToken } = await stack.tokens(alice);
    const { stdout } = await promisify(execFile)('sh', ['-c', `plinth() { printf %s "$TOKEN"; }\n${command}`], {
      env: { PATH: process.env['PATH'], TOKEN: idToken },
      timeout: 60_000,
    });
    expect(JSON.parse(stdout)).to.include({ name: "it's ours" });
  });

  it('takes a token by hand', async () => {
    const { page } = at.person;
    await page.goto(urlOf());
    await page.getByText('With a token instead').click();
    await page.getByLabel('ID token').fill((await at.world.tokens('carol@example.com')).idToken);
    await page.getByText('GET /organizations', { exact: true }).click();
    await operation('GET /organizations').getByRole('button', { name: 'Send' }).click();
    await operation('GET /organizations').getByText('200 OK').waitFor();
  });
});
