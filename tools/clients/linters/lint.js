/** Holds OpenAPI documents against the recommended rules of Redocly and of Spectral, all of them. A line for each finding. */
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

const redoclyRules = await createConfig({ extends: ['recommended'] });
const spectral = new spectralCore.Spectral();
spectral.setRuleset({ extends: spectralRulesets.oas });

for (const file of process.argv.slice(2)) {
  const source = readFileSync(file, 'utf8');
  for (const { ruleId, message, location } of await lintFromString({
    source,
    absoluteRef: file,
    config: redoclyRules,
  })) {
    console.log(`${file}: Redocly ${ruleId}: ${message} ${location.map(({ pointer }) => pointer).join(' ')}`);
  }
  for (const { code, message, path } of await spectral.run(source)) {
    console.log(`${file}: Spectral ${code}: ${message} ${path.join('/')}`);
  }
}
