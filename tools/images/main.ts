/**
 * `npm run docs:images`: the pictures of the docs, from real runs. A first bootstrap teaches the local service how long one
 * takes there. Then a terminal, which is recorded, plays `plinth init`, `up` and `down`, while a browser watches it in the
 * console. It needs Debian's chromium and `script`.
 */
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { prepareInstall } from '../../local/demo/install.js';
import { homeOf, makeFolder, runPlinth } from '../../local/demo/plinth-process.js';
import { local, people } from '../../local/stack/deployment.js';
import { environmentFor } from '../../local/stack/environment.js';
import { readMachines } from '../../local/stack/machines-option.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { launch, narrow, signIn, wide } from './browser.js';
import { answerInit } from './init-answers.js';
import { mostBytes, picturesFolder } from './pictures.js';
import { drawRecording } from './recording.js';
import { loadScreens } from './screen.js';
import { framesOf, startTerminal, type TerminalRun } from './terminal-run.js';

const program = fileURLToPath(new URL('../../cli/main.js', import.meta.url));
const terminal = { columns: 80, rows: 36 };
const name = 'my-first';
/** Once it is typed, all that `plinth up` made stands on the screen. */
const down = 'plinth down';
/** The one that is made before. */
const before = 'next-release';
const [bob, zoe] = ['bob@example.com', 'zoe@example.org'];
const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function takePicture(page: Page, picture: string): Promise<void> {
  // No row or button looks as if somebody pointed at it.
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(picturesFolder, `${picture}.png`), animations: 'disabled' });
  say(`${picture}.png is taken.`);
}

/** The variables of Alice, who does all of this. */
const environmentOf = async (stack: Stack, folder: string): Promise<Readonly<Record<string, string>>> => ({
  ...environmentFor(stack, { file: (each) => join(folder, each) }, await stack.tokens(people.alice)),
  PLINTH_FORGE1_APP_CLIENT_SECRET: 'secret',
});

/** Without it, the service would tell Google's minutes, and its cloud is fifty times as fast. */
async function makeOneBefore(stack: Stack, folder: string, version: string | undefined): Promise<void> {
  const place = join(folder, before);
  for (const each of [place, homeOf(place)]) mkdirSync(each, { recursive: true });
  const flags = [
    ...['--project-name', before, '--base-domain', `${before}.${local.domain}`, '--project-ttl', '8h'],
    ...['--billing-account', local.billingAccount, '--forge1-app-client-id', 'id', '--registry-user', 'me'],
    ...(version === undefined ? [] : ['--install-version', version]),
  ];
  const options = { folder: place, env: await environmentOf(stack, place) };
  const { exitCode, stderr } = await runPlinth(['beta', 'bootstrap-cloud', ...flags], options);
  if (exitCode !== 0) throw new Error(`The bootstrap before the pictures ended with ${exitCode}:\n${stderr}`);
  say(`${before} is made: the service knows now how long one takes.`);
}

/** A person's computer: an empty folder, and plinth in the path. */
async function openTerminal(stack: Stack, folder: string): Promise<TerminalRun> {
  const [bin, work] = [join(folder, '.bin'), join(folder, name)];
  for (const each of [bin, work, homeOf(folder)]) mkdirSync(each, { recursive: true });
  writeFileSync(join(bin, 'plinth'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(bin, 'plinth'), 0o755);
  const env = {
    PATH: [bin, process.env['PATH'] ?? ''].join(delimiter),
    HOME: homeOf(folder),
    ...(await environmentOf(stack, folder)),
  };
  return startTerminal(terminal, { commands: ['plinth init', 'plinth up', down], folder: work, env });
}

/** What one sees in the console while it is made, and once it is there. */
async function watch(run: TerminalRun, page: Page, url: string, withMachines: boolean): Promise<void> {
  await run.saw(/Make it\?/);
  await signIn({ page }, url, people.alice);
  await page.getByRole('link', { name }).click();
  await page.locator('.step.done').nth(9).waitFor();
  await takePicture(page, 'bootstrap');
  await page.setViewportSize(narrow);
  await page.emulateMedia({ colorScheme: 'dark' });
  await takePicture(page, 'phone');
  await page.setViewportSize(wide);
  await page.emulateMedia({ colorScheme: 'light' });
  if (withMachines) {
    const lane = page.getByRole('region', { name: 'Machines' });
    await lane.locator('.step.done').nth(9).waitFor();
    await page.getByRole('log').waitFor();
    await lane.evaluate((element) => element.scrollIntoView());
    await takePicture(page, 'machines');
  }
  // While one is there, and the other on its way.
  await page.setViewportSize({ ...wide, height: 480 });
  await page.getByRole('link', { name: 'Projects' }).first().click();
  await page.getByRole('row', { name }).getByText('running').first().waitFor();
  await page.getByRole('row', { name: before }).getByText('succeeded').first().waitFor();
  await takePicture(page, 'projects');
  await run.saw(/Type the name of the project/);
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
  await page.goto(`${url}/#/organizations/${id}`);
  await page.getByRole('button', { name: 'Bring a team in' }).click();
  await page.getByLabel('Number of a standalone team').fill(String(teamId));
  await page.getByLabel('Number of a standalone team').press('Tab');
  await page.getByRole('heading', { name: 'Members who leave' }).waitFor();
  await takePicture(page, 'migration');
}

async function record(stack: Stack, folder: string, page: Page): Promise<void> {
  const open = await loadScreens();
  const version = await prepareInstall(stack, join(folder, '.package'), say);
  await makeOneBefore(stack, folder, version);
  const run = await openTerminal(stack, folder);
  const watched = watch(run, page, stack.url, version !== undefined);
  await answerInit(run, name, version);
  await run.answer(/Make it\? \[y\/N\] $/, 'y');
  await watched;
  await run.answer(/Type the name of the project to remove it: $/, name);
  const frames = await framesOf(await run.ended, open(terminal), { home: homeOf(folder), restsAt: `$ ${down}` });
  const title = 'plinth init, plinth up and plinth down: a project is asked for, comes up, and goes';
  writeFileSync(join(picturesFolder, 'terminal.svg'), drawRecording(frames, terminal, title));
  await askForMigration(stack, page);
}

function weigh(): void {
  const pictures = readdirSync(picturesFolder).map(
    (each) => [each, statSync(join(picturesFolder, each)).size] as const,
  );
  for (const [each, bytes] of pictures) say(`${each}: ${Math.ceil(bytes / 1000)} kB`);
  const total = pictures.reduce((sum, [, bytes]) => sum + bytes, 0);
  if (total > mostBytes) throw new Error(`The pictures have ${total} bytes together. They may have ${mostBytes}.`);
}

mkdirSync(picturesFolder, { recursive: true });
const folder = makeFolder();
const stack = await createStack({ timeFactor: 0.02, keys: 'real', machines: readMachines(process.argv[2], tmpdir()) });
try {
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: wide, locale: 'en-GB' });
    // What is waited for takes as long as the computer does.
    page.setDefaultTimeout(300_000);
    await record(stack, folder, page);
  } finally {
    await browser.close();
  }
} finally {
  await stack.close();
  rmSync(folder, { recursive: true, force: true });
}
weigh();
