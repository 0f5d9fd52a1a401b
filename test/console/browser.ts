/** A person in front of Chromium: what goes wrong on the page, faults of access, and the keyboard alone. */
import axe from 'axe-core';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launch, narrow, wide } from '../../tools/images/browser.js';

/** What went wrong on a page beside what it shows: errors of scripts, and what its policy refused. */
export interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly faults: string[];
  /** Every address that was asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

export async function makePerson(browser: Browser): Promise<Person> {
  const context = await browser.newContext({ viewport: wide, acceptDownloads: true, locale: 'en-GB' });
  const faults: string[] = [];
  const asked: string[] = [];
  const page = await context.newPage();
  const watch = (each: Page): void => {
    each.setDefaultTimeout(60_000);
    each.on('pageerror', (error) => void faults.push(error.message));
    each.on('dialog', (dialog) => {
      faults.push(`a script ran: ${dialog.message()}`);
      void dialog.dismiss();
    });
    each.on('console', (line) => {
      if (/Content Security Policy|TrustedType|Trusted Type/i.test(line.text())) faults.push(line.text());
    });
    each.on('request', (request) => void asked.push(request.url()));
  };
  watch(page);
  context.on('page', watch);
  return { page, context, faults, asked, close: () => context.close() };
}

interface Chromium<World> {
  readonly world: World;
  readonly browser: Browser;
  readonly person: Person;
}

/** What a suite plays in: a world of its own, Chromium, and a person for each test or for all. No test leaves a fault. */
export function inChromium<World extends { close(): Promise<unknown> }>(
  { personFor }: { readonly personFor: 'each test' | 'all tests' },
  makeWorld: () => Promise<World>,
): Chromium<World> {
  const at: { world?: World; browser?: Browser; person?: Person } = {};
  const come = async () => {
    if (at.browser !== undefined) at.person = await makePerson(at.browser);
  };
  before(async () => {
    // Each is kept as soon as it is there, so that it is closed even if the other fails.
    await Promise.all([
      makeWorld().then((world) => Object.assign(at, { world })),
      launch().then((browser) => Object.assign(at, { browser })),
    ]);
    if (personFor === 'all tests') await come();
  });
  beforeEach(async () => {
    if (personFor === 'each test') await come();
  });
  afterEach(async () => {
    expect(at.person?.faults).to.deep.equal([]);
    if (personFor === 'each test') await at.person?.close();
  });
  after(async () => {
    await at.browser?.close();
    await at.world?.close();
  });
  return at as Chromium<World>;
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** axe finds nothing, and nothing is wider than the window: in light and dark, wide and narrow. */
export async function expectAccessible({ page }: Pick<Person, 'page'>): Promise<void> {
  await page.evaluate(axe.source);
  for (const viewport of [wide, narrow]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const found = await page.evaluate(async () => {
        const { axe: here } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
        return (await here.run()).violations.flatMap(({ id, nodes }) =>
          nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
        );
      });
      expect(found, `${viewport.width} px, ${colorScheme}`).to.deep.equal([]);
    }
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width, 'width of the page').to.be.at.most(viewport.width);
  }
  await page.setViewportSize(wide);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** By the keyboard alone: goes on until what bears this name has the focus. */
export async function tabTo({ page }: Pick<Person, 'page'>, name: string): Promise<void> {
  const seen: string[] = [];
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab');
    const focused = (await page.evaluate(
      `(() => { const at = document.activeElement; return at?.getAttribute('aria-label') ?? at?.labels?.[0]?.textContent ?? at?.textContent ?? ''; })()`,
    )) as string;
    if (focused.trim().startsWith(name)) return;
    seen.push(focused.trim().slice(0, 30));
  }
  throw new Error(`Nothing named ${name} has the focus by Tab: ${seen.join(' · ')}`);
}

/** Goes there, and presses it. */
export async function press(person: Pick<Person, 'page'>, name: string, key = 'Enter'): Promise<void> {
  await tabTo(person, name);
  await person.page.keyboard.press(key);
}

/** Goes to a field, and writes there what it shall hold. */
export async function type(person: Pick<Person, 'page'>, name: string, text: string): Promise<void> {
  await tabTo(person, name);
  await person.page.keyboard.type(text);
}

/** From the page that is open. */
export async function signInByKeys(person: Pick<Person, 'page'>, email: string): Promise<void> {
  const { page } = person;
  await page.getByText('Sign in', { exact: true }).waitFor();
  await press(person, 'Sign in');
  await page.getByLabel('E-mail address').waitFor();
  await page.keyboard.type(email);
  await page.keyboard.press('Enter');
}
