/** Every lock file pins the bytes of each package, for all platforms, and names no host that they come from. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

interface Locked {
  readonly integrity?: string;
  readonly resolved?: string;
}

const files = ['.', ...readdirSync('tools/clients').map((folder) => join('tools/clients', folder))].map((folder) =>
  join(folder, 'package-lock.json'),
);

const packagesIn = (file: string): [string, Locked][] => {
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  return Object.entries(packages).filter(([path]) => path !== '');
};

describe('lock files', () => {
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
