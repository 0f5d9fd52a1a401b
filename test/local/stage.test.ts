/** Where the demo speaks: what a pipe gets while nothing is told, and what a terminal gets. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createStage } from '../../local/demo/stage.js';
import { until } from '../support/halves.js';

describe('the stage of the demo', () => {
  const silenceMs = 20;
  function listen(isTTY: boolean) {
    let text = '';
    const write = (more: string | Uint8Array): boolean => {
      text += String(more);
      return true;
    };
    const out = { isTTY, columns: 80, write };
    const stage = createStage(out, silenceMs);
    return { stage, heard: () => text };
  }

  it('gives a sign of life in a pipe, with the phase and its seconds, again and again', async () => {
    const { stage, heard } = listen(false);
    stage.phase('A phase that takes long');
    await until('two signs of life', () => /still: .*still: /s.exec(heard()) ?? undefined);
    stage.close();
    expect(heard()).to.match(/^still: A phase that takes long, \d+ s$/m);
  });

  it('is silent while plinth tells by itself, and on a terminal, where something moves', async () => {
    const [pipe, terminal] = [listen(false), listen(true)];
    terminal.stage.phase('Phase');
    await pipe.stage.quiet(() => sleep(silenceMs * 5));
    pipe.stage.close();
    terminal.stage.close();
    expect(pipe.heard() + terminal.heard()).not.to.contain('still');
  });
});
