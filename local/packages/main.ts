/** `npm run make-package -- [--version V] [--out DIR]`: the sample package as two archives. */
import { parseArgs } from 'node:util';
import { PackageVersion } from '../../shared/package/manifest.js';
import { makePackage, sampleVersion } from './make-package.js';

const usage = `npm run make-package -- [--version V] [--out DIR]

  --version V   version of the package; default ${sampleVersion}
  --out DIR     where installer.tar.gz, installer-lite.tar.gz and their .sha256 are written; default package
`;

try {
  const { values } = parseArgs({
    options: {
      version: { type: 'string', default: sampleVersion },
      out: { type: 'string', default: 'package' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const version = PackageVersion.safeParse(values.version);
  if (!version.success) throw new Error(`--version ${version.error.issues[0]?.message ?? 'is not valid'}.`);
  if (values.help === true) {
    process.stdout.write(usage);
  } else {
    const made = await makePackage(values.out, version.data);
    process.stdout.write(
      [
        `version ${made.version}`,
        `hash    ${made.hash}`,
        ...[made.full, made.lite].map(({ path, sha256 }) => `${sha256}  ${path}`),
        '',
      ].join('\n'),
    );
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n\n${usage}`);
  process.exitCode = 2;
}
