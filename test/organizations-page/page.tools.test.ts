/** The page of organizations and teams shows what its commands say. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { aligned, learn, pageFile, partsOf, shownIn } from './page.js';
import { type Walked, walk } from './walk.js';

const parts = partsOf(readFileSync(pageFile, 'utf8'));

/** What an admin does in the life of an organization: by the command line, and by curl. */
const deeds = [
  ['creates', /plinth org create/, /\/organizations -d/],
  ['invites', /plinth org invite/, /\/invitations -d/],
  ['accepts', /as bob@\S+ plinth org accept/, /as bob@\S+ api .*\/accept/],
  ['migrates', /plinth team migrate/, /\/migrate /],
  ['sees what moved', /plinth team events/, /\/events/],
  ['undoes', /plinth team undo/, /-X POST .*\/undo/],
  ['leaves', /as bob@\S+ plinth org remove-member/, /as bob@\S+ api -X DELETE/],
  ['deletes', /plinth org delete/, /-X DELETE \S*\/organizations\/\$ORG$/],
  ['takes the delete back', /plinth org restore/, /-X POST .*\/restore/],
] as const;

describe('the page of organizations and teams', function () {
  this.timeout(300_000);
  for (const [i, name] of ['by the command line', 'by curl'].entries()) {
    const all = shownIn(parts[i] ?? '');

    it(`shows what its commands say, ${name}`, async () => {
      const walked = await walk(all);
      const wrong = walked.filter(({ shown, output }) => aligned(shown.output, output) === undefined);
      expect(wrong.map(difference), 'npm run record:organizations writes what they say').to.deep.equal([]);
    });

    for (const [deed, byCommand, byCurl] of deeds) {
      it(`${deed}, ${name}`, () => {
        const form = i === 0 ? byCommand : byCurl;
        expect(all.some(({ command }) => form.test(command))).to.equal(true);
      });
    }
  }

  it('would not be taken for right with a word more, a line less, or another number', () => {
    expect(aligned(['a', '…', 'c'], ['a', 'b', 'c'])).to.deep.equal([0, '…', 2]);
    for (const ran of [['a', 'b', 'c', 'd'], ['a', 'b'], ['a 1', 'b', 'c'], []]) {
      expect(aligned(['a', '…', 'c'], ran), ran.join()).to.equal(undefined);
    }
  });
});

describe('what a run draws anew', () => {
  it('is a whole id, not the digits that an id begins with', () => {
    const ids = new Map<string, string>();
    learn(
      ids,
      ['Organization acme is made: 277abb2f-aaf4-4c40-bd17-b9d4c07275d4'],
      ['Organization acme is made: 1e7abb2f-aaf4-4c40-bd17-b9d4c07275d4'],
    );
    expect([...ids.keys()]).to.deep.equal(['277abb2f-aaf4-4c40-bd17-b9d4c07275d4']);
  });
});

const difference = ({ shown, output }: Walked): string =>
  [`$ ${shown.command}`, 'the page shows:', ...shown.output, 'it says:', ...output].join('\n');
