/** The story of the page to try the API, in Chromium: who is signed in, groups, examples, sending, and a command to copy. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { launch, signIn } from '../../tools/images/browser.js';
import { expectAccessible, makePerson, type Person, tabTo } from './browser.js';

const alice = 'alice@example.com';
const script = '<img src=x onerror=alert(1)>';

describe('the page to try the API', function () {
  this.timeout(90_000);
  let stack: Stack;
  let browser: Browser;
  let person: Person;
  let url: string;

  before(async () => {
    [stack, browser] = await Promise.all([createStack(), launch()]);
    url = `${stack.url}/docs`;
  });
  beforeEach(async () => {
    person = await makePerson(browser);
  });
  afterEach(async () => {
    expect(person.faults).to.deep.equal([]);
    await person.close();
  });
  after(async () => {
    await browser?.close();
    await stack?.close();
  });

  const operation = (title: string) =>
    person.page.locator('main details', { has: person.page.getByText(title, { exact: true }) }).first();

  it('has its operations in groups, each with an example', async () => {
    const { page } = person;
    await page.goto(url);
    const teams = page.locator('section', { has: page.getByRole('heading', { name: 'Teams', exact: true }) });
    await teams.getByText('POST /teams', { exact: true }).click();
    expect(await teams.getByText('POST /organizations', { exact: true }).count()).to.equal(0);
    const making = operation('POST /teams');
    expect(JSON.parse(await making.getByLabel('Body').inputValue())).to.deep.equal({ name: 'acme' });
    await making.getByText('An answer, such as').click();
    await making.getByText('"teamId": ').waitFor();
    await page.getByRole('link', { name: 'Migration' }).click();
    await operation('GET /teams/{teamId}/migration').click();
    await expectAccessible(person);
  });

  it('calls as who signs in there, by the keyboard alone, and as nobody after a sign-out in another tab', async () => {
    const { page, context } = person;
    await page.goto(url);
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await tabTo(person, 'Sign in');
    await page.keyboard.press('Enter');
    await page.getByLabel('E-mail address').waitFor();
    await page.keyboard.type(alice);
    await page.keyboard.press('Enter');
    await page.getByText(`You are signed in as ${alice}.`).waitFor();
    expect(page.url()).to.equal(url);
    await tabTo(person, 'POST /organizations');
    await page.keyboard.press('Enter');
    await tabTo(person, 'Body');
    await page.keyboard.press('Control+A');
    await page.keyboard.type(JSON.stringify({ name: script }));
    await tabTo(person, 'Send');
    await page.keyboard.press('Enter');
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

  it('knows who is signed in to the console, and gives a command that does the same', async () => {
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
      timeout: 30_000,
    });
    expect(JSON.parse(stdout)).to.include({ name: "it's ours" });
  });

  it('takes a token by hand', async () => {
    const { page } = person;
    await page.goto(url);
    await page.getByText('With a token instead').click();
    await page.getByLabel('ID token').fill((await stack.tokens('carol@example.com')).idToken);
    await page.getByText('GET /organizations', { exact: true }).click();
    await operation('GET /organizations').getByRole('button', { name: 'Send' }).click();
    await operation('GET /organizations').getByText('200 OK').waitFor();
  });
});
