/** Which characters can be seen, over all of Unicode, and the pattern that says so to readers of the APIs' documents. */
import { expect } from 'chai';
import { plainPattern } from '../../shared/plain-text.js';
import { hiddenIn, oneSpelling, visible, visibleAnswer, visibleJson } from '../../shared/visible-text.js';
import { hiddenTexts, plainTexts } from '../support/hidden-text.js';

describe('what can be seen', () => {
  it('is the same for the rule and for its pattern, with and without the flag u', () => {
    const [halves, points] = [new RegExp(plainPattern), new RegExp(plainPattern, 'u')];
    const other: string[] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const text = `a${String.fromCodePoint(code)}`;
      const wanted = hiddenIn(text) === undefined;
      if (halves.test(text) !== wanted || points.test(text) !== wanted) other.push(code.toString(16));
    }
    expect(other).to.deep.equal([]);
  });

  it('is not only blanks, by the pattern', () => {
    for (const text of ['', ' ', '\u00a0\u3000']) expect(new RegExp(plainPattern, 'u').test(text)).to.equal(false);
  });

  it('stays as it is where all of it can be seen, and is shown by its number where not', () => {
    for (const [title, , kept] of plainTexts) expect(visible(kept), title).to.equal(kept);
    for (const [title, text, point] of hiddenTexts) {
      const shown = visible(text);
      expect(hiddenIn(shown), title).to.equal(undefined);
      if (!/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) expect(shown, title).to.include(`<${point}>`);
    }
  });

  it('has one spelling, whose spelling is itself', () => {
    for (const [title, text, kept] of plainTexts) {
      expect(oneSpelling(text), title).to.equal(kept);
      expect(oneSpelling(kept), title).to.equal(kept);
    }
  });

  it('is all that a page shows of an answer, line by line', () => {
    const said = hiddenTexts.map(([, text]) => `one\t${text}\ntwo`);
    for (const text of visibleAnswer(JSON.stringify(said)) as string[]) {
      expect(text).to.match(/^one\t[\s\S]*\ntwo$/);
      expect(hiddenIn(text.replaceAll(/[\n\t]/g, ''))).to.equal(undefined);
    }
    expect(visibleAnswer('{"a":[1,true,null,"b"]}')).to.deep.equal({ a: [1, true, null, 'b'] });
  });

  it('is all of a JSON text, which says the same', () => {
    const said = [...hiddenTexts, ...plainTexts].map(([, text]) => ({ text }));
    const text = visibleJson(said);
    expect(hiddenIn(text)).to.equal(undefined);
    expect(JSON.parse(text)).to.deep.equal(said);
  });
});
