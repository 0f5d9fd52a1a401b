/** The reference of both APIs, as browsers get it: its policy, its weight, and all operations that the documents have. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { useOrganizations } from './organizations-world.js';

/** Compressed, without the styles, which the console has, too. */
const mostBytes = 60_000;

interface Part {
  readonly $ref?: string;
  readonly name?: string;
  readonly description?: string;
}
interface Operation {
  readonly summary: string;
  readonly parameters?: readonly Part[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Part }>> };
  readonly responses: Readonly<Record<string, Part>>;
}
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ');
const plain = (text: string): string =>
  text
    .replaceAll(/`([^`]+)`/g, ' $1 ')
    .replaceAll(/\s+/g, ' ')
    .trim();

describe('the reference of the APIs', () => {
  const world = useOrganizations();
  const get = (path = '/docs') => fetch(world.server.origin + path, { headers: { 'accept-encoding': 'gzip' } });

  it('has no script, loads the styles of the console alone, and leads back to it', async () => {
    const reply = await get();
    const html = await reply.text();
    const policy = reply.headers.get('content-security-policy') ?? '';
    expect(policy).to.contain("default-src 'none'").and.contain("trusted-types 'none'").and.not.contain('unsafe');
    expect(html).to.not.match(/<script|<style| style=| on\w+=/);
    const files = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, file = '']) => file);
    const [home, loaded] = [files.filter((file) => file === '/'), files.filter((file) => file !== '/')];
    expect(home).to.have.length.above(0);
    expect(loaded.filter((file) => file.endsWith('.css'))).to.have.length(2);
    for (const file of loaded) {
      expect(file).to.match(/^\/console\/files\/[a-z]+-[\dA-Za-z]{8}\.(?:css|svg)$/);
      expect((await get(file)).status).to.equal(200);
    }
  });

  it('weighs little', async () => {
    const reply = await get();
    expect(reply.headers.get('content-encoding')).to.equal('gzip');
    expect(Number(reply.headers.get('content-length'))).to.be.within(1000, mostBytes);
  });

  it('leads to nothing that it does not have', async () => {
    const html = await (await get()).text();
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
    expect(new Set(ids).size, 'each id once').to.equal(ids.length);
    const links = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id);
    expect(links.filter((id) => !ids.includes(id))).to.deep.equal([]);
  });

  for (const api of ['bootstraps', 'organizations']) {
    it(`has every operation of ${api} with its parameters, body, replies and errors`, async () => {
      const html = await (await get()).text();
      const document = JSON.parse(readFileSync(`docs/reference/${api}.openapi.json`, 'utf8')) as Described;
      const resolved = (part: Part): Part =>
        part.$ref === undefined
          ? part
          : (part.$ref
              .slice(2)
              .split('/')
              .reduce((node, key) => (node as Record<string, unknown>)[key], document as unknown) as Part);
      const sections = html
        .split(/(?=<details )/)
        .filter((each) => each.startsWith(`<details id="${api}-`))
        .map(textOf);
      for (const [path, each] of Object.entries(document.paths)) {
        for (const [method, { summary, parameters = [], requestBody, responses }] of Object.entries(each)) {
          const title = `${method.toUpperCase()} ${path} `;
          const [section = expect.fail(`no ${title}`)] = sections.filter((text) => text.includes(` ${title}`));
          const body = Object.values(requestBody?.content ?? {}).map(
            ({ schema }) => schema.$ref?.split('/').at(-1) ?? '',
          );
          const wanted = [
            plain(summary),
            ...parameters.map((part) => resolved(part).name ?? ''),
            ...body,
            ...Object.entries(responses).map(
              ([status, part]) => ` ${status} ${plain(resolved(part).description ?? '')}`,
            ),
          ];
          expect(
            wanted.filter((text) => !section.includes(text)),
            title,
          ).to.deep.equal([]);
        }
      }
    });
  }
});
