/** The console's story of a bootstrap on machines, by the keyboard alone: the lane of machines moves, and logs are read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/packages/publish.js';
import { launch } from '../../tools/images/browser.js';
import { needMachines } from '../support/machines.js';
import { makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';
import { expectAccessible, makePerson, type Person, tabTo } from './browser.js';

describe('the console: a bootstrap on machines', function () {
  this.timeout(600_000);
  let scene: Scene;
  let browser: Browser;
  let person: Person;
  let version: string;

  before(async () => {
    needMachines();
    [scene, browser] = await Promise.all([makeScene({ machines: 'embedded' }), launch()]);
    const folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    try {
      const made = await makePackage(folder);
      await publishPackage(scene.cloud, made);
      version = made.version;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    person = await makePerson(browser);
  });
  after(async () => {
    await browser?.close();
    await scene?.close();
  });

  it('is watched by the keyboard alone, with the lane of its machines and what they say', async () => {
    const { page } = person;
    const running = (await scene.caller('alice@example.com')).start('watched', { 'install-version': version });
    await page.goto(scene.stack.url);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await tabTo(person, 'Sign in');
    await page.keyboard.press('Enter');
    await page.getByLabel('E-mail address').waitFor();
    await page.keyboard.type('alice@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'watched' }).waitFor({ timeout: 60_000 });
    await tabTo(person, 'watched');
    await page.keyboard.press('Enter');

    const machines = page.getByRole('region', { name: 'Machines' });
    // Only what has said something has a button, and its log is shown without a choice.
    await machines.getByRole('button').first().waitFor({ timeout: 300_000 });
    await page.getByRole('log').waitFor();
    succeeded(outcomeOf(await running.ended));
    await page.locator('.head .state', { hasText: 'succeeded' }).waitFor({ timeout: 30_000 });
    expect(await machines.locator('.step.done').count()).to.be.above(10);
    await machines.getByRole('heading', { name: /^Machines (\d+) of \1$/ }).waitFor();

    const name = 'Platform dc1';
    await tabTo(person, name);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name, pressed: true }).waitFor();
    const log = page.getByRole('region', { name: `Log of ${name}` }).getByRole('log');
    await log.getByText(/plinth-sample|gateway|image/).waitFor();
    await tabTo(person, `What ${name} said`);
    await page.keyboard.press('Home');
    await expectAccessible(person);
    expect(person.faults).to.deep.equal([]);
  });
});
