import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { countOf, itRuns } from './commands.js';
import { nightlyCommands } from './nightly-commands.js';

const { commands } = JSON.parse(readFileSync('test/outsiders/counts.json', 'utf8')) as {
  commands: { nightly: number };
};

describe("gcloud's commands of every night", () => {
  it('are no fewer than before', () => expect(countOf(nightlyCommands)).to.be.at.least(commands.nightly));

  itRuns(nightlyCommands);
});
