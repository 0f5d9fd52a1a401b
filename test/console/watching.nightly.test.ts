/** The console's story of a bootstrap on machines, by the keyboard alone and by mouse: the lane of machines moves, and logs are read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { needMachines } from '../support/machines.js';
import { runAt } from '../support/plinth-here.js';
import { domainOf, makeScene, outcomeOf, succeeded } from '../support/scene.js';
import { expectAccessible, inChromium, press, signInByKeys } from './browser.js';

describe('the console: a bootstrap on machines', function () {
  this.timeout(600_000);
  const at = inChromium({ personFor: 'all tests' }, () => {
    needMachines();
    return makeScene({ machines: 'embedded' });
  });
  let version: string;

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    try {
      const made = await makePackage(folder);
      await publishPackage(at.world.cloud, made);
      version = made.version;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is watched by the keyboard alone, with the lane of its machines and what they say', async () => {
    const { person, world: scene } = at;
    const { page } = person;
    const caller = await scene.caller('alice@example.com');
    const running = caller.start('watched', { 'install-version': version });
    await page.goto(scene.stack.url);
    await signInByKeys(person, 'alice@example.com');
    await page.getByRole('link', { name: 'watched' }).waitFor({ timeout: 60_000 });
    await press(person, 'watched');

    const machines = page.getByRole('region', { name: 'Machines' });
    // Only what has said something has a button, and its log is shown without a choice.
    await machines.getByRole('button').first().waitFor({ timeout: 300_000 });
    await page.getByRole('log').waitFor();
    succeeded(outcomeOf(await running.ended));
    expect((await runAt(['open', 'watched'], caller)).stdout).to.equal(`https://cs.${domainOf('watched')}\n`);
    await page.locator('.head .state', { hasText: 'succeeded' }).waitFor({ timeout: 60_000 });
    expect(await machines.locator('.step.done').count()).to.be.above(10);
    await machines.getByRole('heading', { name: /^Machines (\d+) of \1$/ }).waitFor();

    const name = 'Platform dc1';
    await press(person, name);
    await page.getByRole('button', { name, pressed: true }).waitFor();
    const log = page.getByRole('region', { name: `Log of ${name}` }).getByRole('log');
    await log.getByText(/plinth-sample|gateway|image/).waitFor();
    await press(person, `What ${name} said`, 'Home');
    await expectAccessible(person);
  });

  it('is read by mouse: the log is at its end, and the wheel brings back its beginning', async () => {
    const { page } = at.person;
    const name = 'Platform dc1';
    await page.reload();
    await page.getByRole('region', { name: 'Machines' }).getByRole('button', { name }).click();
    await page.getByRole('button', { name, pressed: true }).waitFor();
    const log = page.getByRole('log', { name: `What ${name} said` });
    await log.filter({ hasText: 'plinth-sample' }).waitFor();
    const isScrolledTo = async (holds: (fromTop: number) => boolean): Promise<void> => {
      const fromTop = (): Promise<number> => page.evaluate('document.querySelector("[role=log]").scrollTop');
      while (!holds(await fromTop())) await page.waitForTimeout(50);
    };
    await isScrolledTo((fromTop) => fromTop > 0);
    await log.hover();
    await page.mouse.wheel(0, -100_000);
    await isScrolledTo((fromTop) => fromTop === 0);
  });
});
