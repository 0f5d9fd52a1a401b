/** A person in front of Chromium: what goes wrong on the page, faults of access, and the keyboard alone. */
import axe from 'axe-core';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { narrow, wide } from '../../tools/images/browser.js';

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
    each.setDefaultTimeout(20_000);
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
