/** `npm run record:organizations`: writes into docs/use/organizations.md what its commands say now. */
import { readFileSync, writeFileSync } from 'node:fs';
import { aligned, pageFile, partsOf, rewritten, shownIn } from './page.js';
import { type Walked, walk } from './walk.js';

/** Where the page leaves lines out, so does the recording, if the others are still there. */
function recorded({ shown, ran, output }: Walked): { command: string; output: readonly string[] } {
  const kept = shown.output.includes('…') ? aligned(shown.output, output) : undefined;
  return {
    command: ran.command,
    output: kept === undefined ? ran.output : kept.map((each) => (each === '…' ? each : (ran.output[each] ?? ''))),
  };
}

const parts: string[] = [];
for (const part of partsOf(readFileSync(pageFile, 'utf8'))) {
  parts.push(rewritten(part, (await walk(shownIn(part))).map(recorded)));
}
writeFileSync(pageFile, parts.join(''));
