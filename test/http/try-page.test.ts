/** The page to try an API: what its policy lets it do. test/console has its story in Chromium. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { useOrganizations } from './organizations-world.js';

describe('the page to try the API', () => {
  const world = useOrganizations();

  it('runs its own script alone, and gives nobody a way to write another into it', async () => {
    const reply = await fetch(`${world.server.origin}/docs`);
    const html = await reply.text();
    const policy = reply.headers.get('content-security-policy') ?? '';
    expect(policy).to.contain("default-src 'none'").and.contain("trusted-types 'none'").and.not.contain('unsafe');
    expect(html).not.to.match(/(?:src|href)="(?!\/openapi\.json")/);
    for (const tag of ['script', 'style']) {
      const [, text = ''] = new RegExp(`<${tag}[^>]*>([\\s\\S]*)</${tag}>`).exec(html) ?? [];
      expect(policy).to.contain(`${tag}-src 'sha256-${createHash('sha256').update(text).digest('base64')}'`);
    }
  });
});
