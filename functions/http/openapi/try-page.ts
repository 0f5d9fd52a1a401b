/** The page to try an API. It reads /openapi.json and makes a form for each operation. It loads nothing from elsewhere. */
import { createHash } from 'node:crypto';
import { tryScript } from './try-script.js';

const style = `
:root { color-scheme: light dark; --ground: #fff; --ink: #17201f; --accent: #0b6a5a }
@media (prefers-color-scheme: dark) { :root { --ground: #121716; --ink: #e7eceb; --accent: #5fcdb6 } }
a { color: var(--accent) }
body { background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
code, pre, textarea, summary b { font-family: ui-monospace, monospace; font-size: .9rem }
h2 { margin: 2rem 0 0 }
nav a { display: inline-block; padding: .25rem .5rem .25rem 0 }
details { border: 1px solid #8886; border-radius: .4rem; margin: .5rem 0; padding: .5rem .75rem }
summary { cursor: pointer }
label { display: block; margin: .5rem 0 }
label span { display: inline-block; min-width: 11rem }
input { width: 24rem; max-width: 100%; box-sizing: border-box }
input::placeholder { color: inherit; opacity: .75 }
button { padding: .25rem .75rem }
textarea { display: block; width: 100%; box-sizing: border-box }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid #8886; padding-left: .75rem }
`;

const sourceOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const tryPagePolicy = [
  "default-src 'none'",
  `script-src ${sourceOf(tryScript)}`,
  `style-src ${sourceOf(style)}`,
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const tryPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>API</title>
<style>${style}</style>
<header>
<h1>API</h1>
<p>Made from <a href="/openapi.json">/openapi.json</a>. What is sent here is done for real.</p>
<p id="who" role="status"></p>
<details><summary>With a token instead</summary>
<label><span>ID token</span><input id="token" type="password" autocomplete="off"></label>
<p><code>plinth token</code> prints one.</p></details>
<nav id="groups" aria-label="Groups"></nav>
</header>
<main id="main"></main>
<script type="module">${tryScript}</script>
</html>
`;
