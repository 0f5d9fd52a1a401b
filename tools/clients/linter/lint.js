/** Holds OpenAPI documents against the recommended rules of Redocly, all of them. A line for each finding. */
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const config = await createConfig({ extends: ['recommended'] });

for (const file of process.argv.slice(2)) {
  const source = readFileSync(file, 'utf8');
  for (const { ruleId, message, location } of await lintFromString({ source, absoluteRef: file, config })) {
    console.log(`${file}: ${ruleId}: ${message} ${location.map(({ pointer }) => pointer).join(' ')}`);
  }
}
