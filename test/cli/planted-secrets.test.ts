/** 200 planted secrets, in every file that may hold one, damaged in eleven ways: none comes out of any command. */
import { expect } from 'chai';
import type { SecretFileKind } from '../../cli/files/secret-text.js';
import { damages, partsIn } from '../support/planted.js';
import {
  everyCommand,
  flagSecrets,
  makePlantedScene,
  type PlantedScene,
  plantedFlags,
  plantedVariables,
} from './planted-secrets.js';
import { bootstrap, five } from './run-cli.js';

const forms = [[], ['--verbose'], ['--json'], ['--json', '--verbose']] as const;

describe('planted secrets', () => {
  let scene: PlantedScene;
  before(async () => {
    scene = await makePlantedScene();
  });
  after(() => scene?.close());

  it('are 200 and more', () => {
    const inFiles = Object.values(scene.files).flatMap((files) => files.flatMap(({ secrets }) => secrets));
    const all = new Set([...inFiles, ...Object.values(plantedVariables), ...flagSecrets]);
    expect(all.size).to.be.at.least(200);
  });

  it('come out of no command that reads a damaged file', async () => {
    const found: string[] = [];
    let turn = 0;
    for (const [kind, files] of Object.entries(scene.files)) {
      for (const [number, file] of files.entries()) {
        for (const [damage, apply] of Object.entries(damages)) {
          turn += 1;
          // By night each file is tried with each damage, command and form.
          if (kind === 'secret by reference' && number !== turn % files.length) continue;
          const readers = file.readers.filter(([name]) => name !== 'support');
          const reader = readers[turn % readers.length];
          if (reader === undefined) continue;
          const args = [...reader, ...(forms[turn % forms.length] ?? [])];
          const leaked = await scene.leaks(file, apply(file.text, ((turn * 7) % 19) / 19), args);
          if (leaked.length > 0) found.push(`${kind} ${damage}: plinth ${args.join(' ')}: ${leaked[0]}`);
        }
      }
    }
    expect(found).to.deep.equal([]);
  });

  it('come out of no other command, whatever file it meets', async () => {
    const found: string[] = [];
    const kinds = Object.entries(scene.files) as [SecretFileKind, (typeof scene.files)[SecretFileKind]][];
    const ways = Object.entries(damages);
    for (const [turn, command] of everyCommand.entries()) {
      if (command[0] === 'support') continue;
      const [kind, files] = kinds[turn % kinds.length] ?? [];
      const [damage, apply] = ways[turn % ways.length] ?? [];
      const file = files?.[0];
      if (file === undefined || apply === undefined) continue;
      const args = [...command, ...(forms[turn % forms.length] ?? [])];
      const leaked = await scene.leaks(file, apply(file.text, 0.6), args);
      if (leaked.length > 0) found.push(`${kind} ${damage}: plinth ${args.join(' ')}: ${leaked[0]}`);
    }
    expect(found).to.deep.equal([]);
  });

  it('in flags and variables come out of no refusal', async () => {
    const secrets = [...Object.values(plantedVariables), ...flagSecrets];
    for (const more of forms) {
      const args = [...bootstrap, ...five.slice(0, 4), ...plantedFlags, '--zone=none', '--nothing', ...more];
      const { stdout, stderr } = await scene.sandbox.run(args, plantedVariables);
      expect(partsIn(stdout + stderr, secrets)).to.deep.equal([]);
    }
  });
});
