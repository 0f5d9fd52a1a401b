/**
 * Bundles the console's page: one HTML file, and beside it script, styles and icon, whose names change with their content. The
 * reference of the APIs is a second page with the same styles. Part of `npm run build`, which says where to.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { noticesFile, thirdPartyNotices } from '../third-party-notices.js';
import { type ApiDocument, referencePage } from './reference-page.js';

const [outdir = ''] = process.argv.slice(2);
const files = join(outdir, 'files');
rmSync(outdir, { recursive: true, force: true });
mkdirSync(files, { recursive: true });

const { metafile } = await build({
  entryPoints: ['main.tsx', 'style.css', 'reference.css'].map((file) => join('console', file)),
  outdir: files,
  entryNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  platform: 'browser',
  format: 'esm',
  target: ['chrome111', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  tsconfigRaw: '{}',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
const made = Object.keys(metafile.outputs).map((file) => file.split('/').at(-1) ?? '');

const icon = readFileSync(join('console', 'icon.svg'));
const iconName = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
writeFileSync(join(files, iconName), icon);

const named = (start: string, end: string): string => {
  const found = made.find((name) => name.startsWith(start) && name.endsWith(end));
  if (found === undefined) throw new Error(`The page has no ${start}${end}.`);
  return `/console/files/${found}`;
};
const html = readFileSync(join('console', 'index.html'), 'utf8')
  .replace('{script}', named('main-', '.js'))
  .replace('{style}', named('style-', '.css'))
  .replace('{icon}', `/console/files/${iconName}`);
writeFileSync(join(outdir, 'index.html'), html);

const documentOf = (api: string): ApiDocument =>
  JSON.parse(readFileSync(join('docs', 'reference', `${api}.openapi.json`), 'utf8'));
const apis = { bootstraps: documentOf('bootstraps'), organizations: documentOf('organizations') };
const styles = ['style-', 'reference-'].map((start) => named(start, '.css'));
const icons = { icon: `/console/files/${iconName}` };
writeFileSync(join(outdir, 'reference.html'), referencePage(apis, { styles, ...icons }));
writeFileSync(join(outdir, noticesFile), thirdPartyNotices(metafile));
