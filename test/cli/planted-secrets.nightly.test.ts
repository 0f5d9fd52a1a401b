/** The whole product of the search by day: each planted file, each damage, each command and each form of output. */
import { expect } from 'chai';
import { damages } from '../support/planted.js';
import { everyCommand, makePlantedScene, type PlantedScene } from './planted-secrets.js';

const forms = [[], ['--verbose'], ['--json'], ['--json', '--verbose']] as const;
const places = [0.15, 0.5, 0.85];

describe('planted secrets, all of them', function () {
  this.timeout(3_600_000);
  let scene: PlantedScene;
  before(async () => {
    scene = await makePlantedScene();
  });
  after(() => scene?.close());

  for (const [damage, apply] of Object.entries(damages)) {
    it(`come out of nothing in a file ${damage}`, async () => {
      const found: string[] = [];
      let turn = 0;
      for (const [kind, files] of Object.entries(scene.files)) {
        for (const [number, file] of files.entries()) {
          // Readers meet each form and place. The others never open the file, so that once is enough.
          const tried = file.readers.flatMap((reader) =>
            forms.flatMap((form) => places.map((place) => ({ args: [...reader, ...form], place }))),
          );
          const others = everyCommand.map((command) => {
            turn += 1;
            return {
              args: [...command, ...(forms[turn % forms.length] ?? [])],
              place: places[turn % places.length] ?? 0,
            };
          });
          for (const { args, place } of [...tried, ...(number === 0 ? others : [])]) {
            const leaked = await scene.leaks(file, apply(file.text, place), args);
            if (leaked.length > 0) found.push(`${kind}: plinth ${args.join(' ')}: ${leaked[0]}`);
          }
        }
      }
      expect(found).to.deep.equal([]);
    });
  }
});
