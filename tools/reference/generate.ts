/** Writes docs/reference, docs/use/troubleshooting.md, pages of docs/build, and what terraform knows of the settings, from the tables and schemas of the code (`npm run docs`); with --check it fails if one is stale. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bootstrapsApi } from '../../functions/http/bootstraps/api.js';
import { openApiDocument } from '../../functions/http/openapi/openapi.js';
import { organizationsApi } from '../../functions/http/organizations/api.js';
import { cliReference } from './cli-reference.js';
import { installConfigReference } from './install-config-reference.js';
import { organizationsApiReference } from './organizations-api-reference.js';
import { problemsReference } from './problems-reference.js';
import { rolesReference } from './roles-reference.js';
import { settingsReference } from './settings-reference.js';
import { simulatedCloud } from './simulated-cloud.js';
import { simulatedRoles } from './simulated-roles.js';
import { terraformSettings } from './terraform-settings.js';
import { troubleshooting } from './troubleshooting.js';
import { unprovenPage } from './unproven-page.js';
import { worldsPage } from './worlds-page.js';

/** A page and what makes it: add one here, and its generator beside this file. */
const pages: Readonly<Record<string, () => string>> = {
  'bootstraps.openapi.json': () => json(openApiDocument(bootstrapsApi)),
  'cli.md': cliReference,
  'install-config.md': installConfigReference,
  'organizations-api.md': organizationsApiReference,
  'organizations.openapi.json': () => json(openApiDocument(organizationsApi)),
  'problems.md': problemsReference,
  'roles.md': rolesReference,
  'settings.md': settingsReference,
  '../build/simulated-cloud.md': () => [simulatedCloud(), simulatedRoles()].join('\n'),
  '../use/troubleshooting.md': troubleshooting,
  '../build/unproven.md': unprovenPage,
  '../build/worlds.md': worldsPage,
  '../../terraform/settings.json': terraformSettings,
};

const check = process.argv.includes('--check');
const stale: string[] = [];
for (const [name, make] of Object.entries(pages)) {
  const path = join('docs', 'reference', name);
  const content = make();
  if (standing(path) === content) continue;
  stale.push(path);
  if (check) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
if (check && stale.length > 0) {
  console.error(`Stale: ${stale.join(', ')}. Run npm run docs.`);
  process.exitCode = 1;
}

function json(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

function standing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
