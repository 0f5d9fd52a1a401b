import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);

/** CommonJS packages that are in memory once the module is imported, as Node tells them. */
const script = (module: string): string => `
  import { createRequire } from 'node:module';
  const from = performance.now();
  await import(${JSON.stringify(module)});
  const ms = performance.now() - from;
  console.log(JSON.stringify({ ms, loaded: Object.keys(createRequire(${JSON.stringify(module)}).cache) }));
`;

for (const [name, file] of [
  ['bootstraps', 'bootstraps/bootstraps.js'],
  ['api', 'organizations/organizations.js'],
] as const) {
  describe(`the function ${name}`, () => {
    it('is loaded without compute and without any client of a database or queue', async function () {
      this.timeout(240_000);
      const module = new URL(`../../functions/http/${file}`, import.meta.url).href;
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script(module)]);
      const { loaded } = JSON.parse(stdout) as { loaded: string[] };
      const heavy = loaded.filter((path) =>
        /@google-cloud\/(?:compute|firestore|pubsub)|@opentelemetry|google-gax|grpc|age-encryption/.test(path),
      );
      expect(heavy).to.deep.equal([]);
    });
  });
}
