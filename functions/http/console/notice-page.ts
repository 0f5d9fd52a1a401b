/** A page of a few words, where the console itself cannot be shown: it is not set up, or nobody was signed in. */
import { createHash } from 'node:crypto';
import type { Answer } from '../reply.js';

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto 0; padding: 0 1.25rem; color-scheme: light dark }
h1 { font-size: 1.25rem; margin: 0 0 .5rem }
code { font: .875em ui-monospace, monospace }
p { margin: .5rem 0 }
`;

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Of every page: it is of nobody's cache, frame or referrer. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

/** `html`: no part of it comes from a request. */
export const noticePage = (status: number, title: string, html: string): Answer => ({
  status,
  headers: { ...pageHeaders, 'content-security-policy': policy },
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>plinth: ${title}</title>
<style>${style}</style>
<main>
<h1>${title}</h1>
${html}
</main>
</html>
`,
});
