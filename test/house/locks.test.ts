/** Every lock file pins the bytes of each package, for all platforms, and names no host that they come from. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

interface Locked {
  readonly integrity?: string;
  readonly resolved?: string;
}

const folders = ['.', ...readdirSync('tools/clients').map((folder) => join('tools/clients', folder))];
const filesNamed = (name: string): string[] =>
  folders.map((folder) => join(folder, name)).filter((file) => existsSync(file));
const files = filesNamed('package-lock.json');
const pythonFiles = filesNamed('requirements.txt');

const packagesIn = (file: string): [string, Locked][] => {
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  return Object.entries(packages).filter(([path]) => path !== '');
};

describe('lock files', () => {
  it('are in each folder that has packages of its own', () => {
    expect(files.length + pythonFiles.length).to.equal(folders.length);
  });

  for (const file of pythonFiles) {
    it(`pin each package of ${file} by a version and its SHA-256, and name no host`, () => {
      const text = readFileSync(file, 'utf8');
      const packages = text.split(/\n(?=\S)/);
      const loose = packages.filter(
        (each) => !/^[\w.-]+==\S+ .*(?:\n {4}--hash=sha256:[0-9a-f]{64}(?: \\)?)+\n?$/.test(each),
      );
      expect(packages).to.have.length.above(1);
      expect(loose).to.deep.equal([]);
      expect(text).not.to.contain('://');
    });
  }

  for (const file of files) {
    it(`pin each package of ${file} by a SHA-512: npm run lock completes it`, () => {
      const packages = packagesIn(file);
      expect(packages).to.not.be.empty;
      const loose = packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''));
      expect(loose.map(([path]) => path)).to.deep.equal([]);
    });

    it(`name no host in ${file}`, () => {
      const hosts = packagesIn(file).filter(([, { resolved }]) => resolved !== undefined);
      expect(hosts.map(([path]) => path)).to.deep.equal([]);
    });
  }
});
