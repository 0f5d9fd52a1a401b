/**
 * Installs a package's components in order. It keeps what is already installed, reports what fails, and removes components
 * that the package no longer has.
 */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { componentExits } from '../../shared/package/contract.js';
import type { InstallEvent } from '../../shared/package/install-event.js';
import type { Component, PackageManifest } from '../../shared/package/manifest.js';
import { Problem } from '../../shared/problems.js';
import { makeSecretFolder } from '../files/files.js';
import { ending, execute, failed, type Work } from './component-call.js';
import { earlierPackage, type InstallInputs } from './inputs.js';
import { readInstalled, takeLock, writeInstalled } from './installed.js';

export interface InstallReport {
  /** In order. Removed components come first. */
  readonly components: readonly { readonly component: string; readonly result: string; readonly seconds: number }[];
}

/** Skipped steps. Flags or the config name them, or plinth does them itself. */
export const skippedSteps = ({ config, skip }: Pick<InstallInputs, 'config' | 'skip'>): string[] => [
  ...new Set([
    'kubernetes',
    ...(config.registry.loadContainerImages ? [] : ['load-container-images']),
    ...config.operations.skip,
    ...skip,
  ]),
];

/** Throws `install-failed` at the first component that fails. Components installed before it are remembered. */
export async function installPackage(
  inputs: InstallInputs,
  onEvent: (event: InstallEvent) => void,
  signal: AbortSignal,
): Promise<InstallReport> {
  const { config, package: unpacked } = inputs;
  const { manifest } = unpacked;
  const folder = join(inputs.stateFolder, `dc${config.dataCenter.id}`);
  makeSecretFolder(folder);
  const lock = await takeLock(folder);
  try {
    const skipped = skippedSteps(inputs);
    const work: Work = { inputs, folder, lock, skipped, redactor: inputs.redactor, onEvent, signal };
    const digest = contentDigest(manifest);
    onEvent({
      type: 'install-begun',
      package: { name: manifest.name, version: manifest.version, hash: manifest.hash },
      datacenter: config.dataCenter,
      components: manifest.components.map(({ name, step, title }) => ({
        component: name,
        step,
        title,
        skipped: skipped.includes(step),
      })),
    });
    const components: { component: string; result: string; seconds: number }[] = [];
    for (const name of Object.keys(readInstalled(folder).components).reverse()) {
      if (manifest.components.some((component) => component.name === name)) continue;
      components.push({ component: name, ...(await removeOne(work, name)) });
    }
    for (const component of manifest.components) {
      components.push({ component: component.name, ...(await installOne(work, component, digest)) });
    }
    dropUnused(inputs);
    return { components };
  } finally {
    lock.release();
  }
}

async function installOne(work: Work, component: Component, digest: string) {
  const { name, step } = component;
  const { inputs, folder, onEvent } = work;
  const began = performance.now();
  const ended = (result: 'installed' | 'unchanged' | 'skipped' | 'failed') => {
    const seconds = Math.round(performance.now() - began) / 1000;
    onEvent({ type: 'component-ended', component: name, step, result, seconds });
    return { result, seconds };
  };
  if (work.skipped.includes(step)) return ended('skipped');
  try {
    const known = readInstalled(folder).components[name];
    if (known?.digest === digest && known.inputs === inputs.digest) {
      onEvent({ type: 'component', component: name, step, state: 'checking' });
      if ((await look(work, component)) === 'stands') return ended('unchanged');
    }
    onEvent({ type: 'component', component: name, step, state: 'installing' });
    forget(folder, name);
    await act(work, component, 'install');
    if ((await look(work, component)) !== 'stands') {
      throw failed(component, 'its install ended well, and its check says that it does not stand', {});
    }
    const { components } = readInstalled(folder);
    const { package: unpacked } = inputs;
    components[name] = {
      step,
      digest,
      inputs: inputs.digest,
      folder: unpacked.folder,
      remove: component.remove,
      installedAt: new Date().toISOString(),
    };
    writeInstalled(folder, { schema: 1, components });
    return ended('installed');
  } catch (error) {
    ended('failed');
    throw error;
  }
}

/**
 * Removes a component with the package that installed it. If that package is gone, nothing can remove the component, so a
 * person must act.
 */
async function removeOne(work: Work, name: string) {
  const { folder, onEvent } = work;
  const known = readInstalled(folder).components[name];
  const began = performance.now();
  if (known === undefined) return { result: 'removed', seconds: 0 };
  const { step } = known;
  if (work.skipped.includes(step)) return { result: 'skipped', seconds: 0 };
  onEvent({ type: 'component', component: name, step, state: 'removing' });
  const earlier = await earlierPackage(known.folder);
  const component = earlier?.manifest.components.find((each) => each.name === name);
  const seconds = () => Math.round(performance.now() - began) / 1000;
  if (earlier === undefined || component === undefined) {
    throw new Problem(
      'conflict',
      `The package that installed ${name} is gone from ${known.folder}, and with it what removes it.`,
      {
        advice: `Remove ${name} by hand and take it out of ${join(folder, 'installed.json')}, or install its package again first.`,
      },
    );
  }
  try {
    await act({ ...work, inputs: { ...work.inputs, package: earlier } }, component, 'remove');
  } catch (error) {
    onEvent({ type: 'component-ended', component: name, step, result: 'failed', seconds: seconds() });
    throw error;
  }
  forget(folder, name);
  onEvent({ type: 'component-ended', component: name, step, result: 'removed', seconds: seconds() });
  return { result: 'removed', seconds: seconds() };
}

/** Half an installation doesn't count. The component is remembered again once its installation has succeeded. */
function forget(folder: string, name: string): void {
  const { components } = readInstalled(folder);
  if (components[name] === undefined) return;
  delete components[name];
  writeInstalled(folder, { schema: 1, components });
}

async function look(work: Work, component: Component): Promise<'stands' | 'differs'> {
  const { exitCode, lines, why } = await execute(work, component, 'check');
  if (exitCode === componentExits.done) return 'stands';
  if (exitCode === componentExits.differs) return 'differs';
  throw failed(component, ending('check', { exitCode, why }), { exitCode, lines });
}

async function act(work: Work, component: Component, action: 'install' | 'remove'): Promise<void> {
  const { exitCode, lines, why } = await execute(work, component, action);
  if (exitCode !== componentExits.done) throw failed(component, ending(action, { exitCode, why }), { exitCode, lines });
}

/** Covers everything that an executable of the package could use. Of an image it covers only the manifest's entry. */
const contentDigest = ({ files, components, images }: PackageManifest): string =>
  createHash('sha256')
    .update(JSON.stringify([files, components, images]))
    .digest('hex');

/** Removes unpacked packages that no datacenter has an installed component from. */
function dropUnused({ package: unpacked, stateFolder }: InstallInputs): void {
  const folders = readdirSync(stateFolder).filter((name) => /^dc\d+$/.test(name));
  const installed = folders.flatMap((name) => Object.values(readInstalled(join(stateFolder, name)).components));
  const used = new Set([unpacked.folder, ...installed.map(({ folder }) => folder)]);
  const packages = join(stateFolder, 'packages');
  for (const folder of readdirSync(packages).map((name) => join(packages, name))) {
    if (!used.has(folder)) rmSync(folder, { recursive: true, force: true });
  }
}
