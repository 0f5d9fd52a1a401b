import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { countOf, itRuns } from './commands.js';
import { dailyCommands } from './daily-commands.js';

const { commands } = JSON.parse(readFileSync('test/outsiders/counts.json', 'utf8')) as { commands: { daily: number } };

describe("gcloud's commands of every day", () => {
  it('are no fewer than before', () => expect(countOf(dailyCommands)).to.be.at.least(commands.daily));

  itRuns(dailyCommands);
});
