/** What `npm ci` does with this project's settings: it runs no scripts of the packages that it installs. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectFolder } from '../support/recording-store.js';

describe('an installation', function () {
  this.timeout(120_000);

  /** Whether a package's own script ran when npm installed it. */
  const scriptRan = (settings: (folder: string) => void): boolean => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-install-'));
    try {
      const script = "node -e \"require('fs').writeFileSync('ran', '')\"";
      mkdirSync(join(folder, 'other'));
      const other = { name: 'other', version: '1.0.0', scripts: { postinstall: script } };
      writeFileSync(join(folder, 'other', 'package.json'), JSON.stringify(other));
      // Of npm, where it runs the tests: they would be stronger than the file.
      const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
      const npm = (...args: string[]) => execFileSync('npm', args, { cwd: folder, env, stdio: 'pipe' });
      npm('pack', './other');
      const dependencies = { other: 'file:other-1.0.0.tgz' };
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
      settings(folder);
      npm('install', '--offline', '--no-audit', '--no-fund');
      expect(existsSync(join(folder, 'node_modules', 'other', 'package.json'))).to.equal(true);
      return existsSync(join(folder, 'node_modules', 'other', 'ran'));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  it('runs no script of a package', () => {
    expect(
      scriptRan(() => {}),
      'as npm does by itself',
    ).to.equal(true);
    expect(scriptRan((folder) => cpSync(join(projectFolder, '.npmrc'), join(folder, '.npmrc')))).to.equal(false);
  });
});
