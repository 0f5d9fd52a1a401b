import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { alice, useOrganizations } from './organizations-world.js';

/** As much of a document as the page's script asks for. */
interface Element {
  readonly tag: string;
  value: string;
  textContent: string;
  readonly children: unknown[];
  submit: ((event: object) => Promise<void>) | undefined;
  append(...children: unknown[]): void;
  addEventListener(name: string, listener: Element['submit']): void;
}

function makeDocument() {
  const element = (tag: string): Element => {
    const made: Element = {
      tag,
      value: '',
      textContent: '',
      children: [],
      submit: undefined,
      append: (...children) => void made.children.push(...children),
      addEventListener: (_, listener) => {
        made.submit = listener;
      },
    };
    return made;
  };
  const fixed = new Map([
    ['token', element('input')],
    ['h1', element('h1')],
    ['main', element('main')],
  ]);
  return {
    title: '',
    createElement: element,
    getElementById: (id: string) => fixed.get(id),
    querySelector: (selector: string) => fixed.get(selector),
  };
}
const within = (root: Element, tag: string): Element[] =>
  root.children.flatMap((child) => {
    if (typeof child !== 'object') return [];
    const element = child as Element;
    return [...(element.tag === tag ? [element] : []), ...within(element, tag)];
  });

describe('the page to try the API', () => {
  const world = useOrganizations();

  it('runs its own script alone, and calls an operation as it is described', async () => {
    const reply = await fetch(`${world.server.origin}/docs`);
    const html = await reply.text();
    const policy = reply.headers.get('content-security-policy') ?? '';
    expect(policy).to.contain("default-src 'none'").and.not.contain('unsafe');
    expect(html).not.to.match(/(?:src|href)="(?!\/openapi\.json")/);
    for (const tag of ['script', 'style']) {
      const [, text = ''] = new RegExp(`<${tag}[^>]*>([\\s\\S]*)</${tag}>`).exec(html) ?? [];
      expect(policy).to.contain(`${tag}-src 'sha256-${createHash('sha256').update(text).digest('base64')}'`);
    }

    const [, script = ''] = /<script[^>]*>([\s\S]*)<\/script>/.exec(html) ?? [];
    const document = makeDocument();
    const AsyncFunction = (async () => undefined).constructor as new (
      ...args: string[]
    ) => (...args: unknown[]) => Promise<void>;
    const ask = (path: string, init?: RequestInit) => fetch(world.server.origin + path, init);
    await new AsyncFunction('document', 'fetch', script)(document, ask);
    expect(document.title).to.equal('plinth organizations');
    const main = document.querySelector('main') as Element;
    const operation = main.children.find(
      (each) => within(each as Element, 'b')[0]?.children[0] === 'POST /organizations',
    );
    const [form] = within(operation as Element, 'form');
    const [body] = within(form as Element, 'textarea');
    expect(JSON.parse(body?.value ?? '')).to.deep.equal({ name: '' });

    const lists = main.children.find(
      (each) => within(each as Element, 'b')[0]?.children[0] === 'GET /teams/{teamId}/members',
    );
    const names = within(lists as Element, 'span').map(({ children: [name] }) => name);
    expect(names).to.deep.equal(['teamId', 'limit', 'cursor']);

    Object.assign(body as Element, { value: '{"name":"Tried"}' });
    Object.assign(document.getElementById('token') as Element, { value: await world.server.token(alice) });
    await form?.submit?.({ preventDefault: () => undefined });
    const [output] = within(form as Element, 'pre');
    expect(output?.textContent).to.contain('POST /organizations\n201').and.contain('"name": "Tried"');
  });
});
