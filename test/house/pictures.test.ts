/** The pictures of the docs: they are there, shown, light, and tell nothing of the computer that they were made on. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { mostBytes, picturesFolder } from '../../tools/images/pictures.js';

const pictures = readdirSync(picturesFolder).map((name) => ({ name, bytes: readFileSync(join(picturesFolder, name)) }));
const shownBy = (page: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(/!\[[^\]]+\]\([^)]*images\/([^)]+)\)/g)].map(([, name = '']) => name);

/** The kinds of chunks that a PNG has. */
function chunksOf(png: Buffer): string[] {
  const kinds: string[] = [];
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) kinds.push(png.toString('latin1', at + 4, at + 8));
  return kinds;
}

describe('the pictures of the docs', () => {
  it('are a recording of a terminal and screenshots, a megabyte together at most', () => {
    const names = pictures.map(({ name }) => name);
    expect(names).to.include('terminal.svg');
    expect(names.filter((name) => name.endsWith('.png'))).to.have.length.above(3);
    expect(pictures.reduce((sum, { bytes }) => sum + bytes.length, 0)).to.be.at.most(mostBytes);
  });

  it('are each shown by the tour, and by the README some', () => {
    expect(shownBy('docs/use/tour.md').toSorted()).to.deep.equal(pictures.map(({ name }) => name).toSorted());
    expect(shownBy('README.md')).to.include('terminal.svg').and.have.length.above(1);
  });

  for (const { name, bytes } of pictures.filter((each) => each.name.endsWith('.png'))) {
    it(`${name} is a picture of pixels alone, and no words go with it`, () => {
      expect(bytes.subarray(0, 8).toString('latin1')).to.equal('\x89PNG\r\n\x1a\n');
      for (const kind of chunksOf(bytes)) expect(kind).to.be.oneOf(['IHDR', 'PLTE', 'sRGB', 'sBIT', 'IDAT', 'IEND']);
    });
  }

  it('terminal.svg moves, loads nothing, and holds no secret and no path of a computer', () => {
    const svg = pictures.find(({ name }) => name === 'terminal.svg')?.bytes.toString() ?? '';
    expect(svg)
      .to.match(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
      .and.include('@keyframes play');
    expect(svg).to.not.match(/<script|<image|<foreignObject|href="[^#]|url\(|@import/);
    const seen = svg.replaceAll(/<style>.*?<\/style>/gs, '').replaceAll(/<[^>]*>/g, '\n');
    for (const command of ['$ plinth init', '$ plinth up', '$ plinth down', 'my-first is removed.']) {
      expect(seen).to.include(command);
    }
    // The sample lies there on its machines.
    const onMachines = seen.replaceAll('/opt/plinth-sample/', '');
    expect(onMachines).to.not.match(/\/(?:tmp|root|home|work|Users|usr|var|opt)\b/);
    expect(seen).to.not.match(/AGE-SECRET-KEY|PRIVATE KEY|eyJ[\w-]{8}|ya29\.|GOCSPX|secret=/);
  });
});
