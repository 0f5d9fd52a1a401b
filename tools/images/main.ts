/**
 * `npm run docs:images`: the pictures of the docs, from real runs. The demo plays on a terminal, which is recorded, while a
 * browser watches it in the console. It needs Debian's chromium, `script`, and a computer that can hold machines.
 */
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { people } from '../../local/stack/deployment.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { launch, narrow, signIn, wide } from './browser.js';
import { type DemoRun, framesOf, startDemo } from './demo-run.js';
import { mostBytes, picturesFolder } from './pictures.js';
import { drawRecording } from './recording.js';
import { loadScreens } from './screen.js';

const [bob, zoe] = ['bob@example.com', 'zoe@example.org'];
const terminal = { columns: 80, rows: 30 };
/** A run of a minute and a half is seen in half of it. */
const speed = 2;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function takePicture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(picturesFolder, `${name}.png`), animations: 'disabled' });
}

/** What a person sees in the console while the demo goes on. */
async function watchDemo(demo: DemoRun, page: Page): Promise<void> {
  const [, url = ''] = await demo.saw(/in a browser, too: (http:\S+)/);
  await demo.saw(/\d+\/\d+ {2}\d+s/);
  await signIn({ page }, url, people.alice);
  await page.getByRole('link', { name: 'plinth-demo' }).click();
  // Machines at work, and the log of one of them.
  await page.locator('[aria-label="Machines"] .step.done').nth(5).waitFor({ timeout: 240_000 });
  await page.getByRole('log').waitFor();
  await takePicture(page, 'bootstrap');
  await page.setViewportSize(narrow);
  await page.emulateMedia({ colorScheme: 'dark' });
  await takePicture(page, 'phone');
  await page.setViewportSize({ ...wide, height: 500 });
  await page.emulateMedia({ colorScheme: 'light' });
  await demo.saw(/Looked at from outside/);
  await page.getByRole('link', { name: 'Projects' }).first().click();
  await page.getByText('succeeded').first().waitFor();
  await takePicture(page, 'projects');
}

/** A team that is about to be taken in: whoever is not of the organization would leave it. */
async function askForMigration({ url, tokens }: Stack, page: Page): Promise<void> {
  const { idToken } = await tokens(people.alice);
  const ask = async <T>(path: string, body: object): Promise<T> => {
    const headers = { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' };
    const reply = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await reply.json()) as T;
  };
  const { id } = await ask<{ id: string }>('/organizations', { name: 'acme' });
  await ask(`/organizations/${id}/members`, { email: bob });
  const { teamId } = await ask<{ teamId: number }>('/teams', { name: 'platform' });
  for (const email of [bob, zoe]) await ask(`/teams/${teamId}/members`, { email });
  await page.setViewportSize({ ...wide, height: 760 });
  await signIn({ page }, `${url}/#/organizations/${id}`, people.alice);
  await page.getByRole('button', { name: 'Bring a team in' }).click();
  await page.getByLabel('Number of a standalone team').fill(String(teamId));
  await page.getByLabel('Number of a standalone team').press('Tab');
  await page.getByText('Leave the team, as they are not').waitFor();
  await takePicture(page, 'migration');
}

function weigh(): void {
  const sizes = readdirSync(picturesFolder).map((name) => ({ name, bytes: statSync(join(picturesFolder, name)).size }));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { name, bytes } of sizes) say(`${name}: ${Math.ceil(bytes / 1000)} kB`);
  if (total > mostBytes) throw new Error(`The pictures have ${total} bytes together. The most is ${mostBytes}.`);
}

mkdirSync(picturesFolder, { recursive: true });
const [open, browser] = await Promise.all([loadScreens(), launch()]);
try {
  const demo = startDemo(terminal);
  const page = await browser.newPage({ viewport: wide, locale: 'en-GB' });
  await Promise.all([watchDemo(demo, page), demo.ended]);
  const frames = await framesOf(await demo.ended, open(terminal), speed);
  const title = 'npm run demo: a platform comes up on this computer, is looked at, and goes when its time is over';
  writeFileSync(join(picturesFolder, 'demo.svg'), drawRecording(frames, terminal, title));
  const stack = await createStack();
  try {
    await askForMigration(stack, await browser.newPage({ viewport: wide, locale: 'en-GB' }));
  } finally {
    await stack.close();
  }
} finally {
  await browser.close();
}
weigh();
