/** Opens an address in the person's browser, without a shell. Without a browser, the address on the screen suffices. */
import { spawn } from 'node:child_process';
import type { Settings } from '../settings.js';

/** `start` of Windows is a word of its shell, so the program behind it is called. */
const programs: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export function openInBrowser(url: string, { env }: Pick<Settings, 'env'>): void {
  const [program, ...args] = programs[process.platform] ?? ['xdg-open'];
  spawn(program, [...args, url], { stdio: 'ignore', detached: true, env })
    .on('error', () => undefined)
    .unref();
}
