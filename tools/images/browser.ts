/** Debian's Chromium, and a person in front of it who signs in to the console. */
import { type Browser, chromium, type Page } from 'playwright-core';

export const launch = (): Promise<Browser> =>
  // The sandbox of Chromium takes no root, as which tests run in containers.
  chromium.launch({ executablePath: '/usr/bin/chromium', args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });

export const wide = { width: 1280, height: 900 };
export const narrow = { width: 380, height: 760 };

export async function signIn({ page }: { readonly page: Page }, url: string, email: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByRole('button', { name: 'Log in' }).click();
}
