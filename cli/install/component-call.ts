/** One call of a package's executable: its input, the lines that are passed on, and the meaning of its end. */
import { join } from 'node:path';
import { type ComponentInput, componentExits, readProgress } from '../../shared/package/contract.js';
import type { InstallEvent } from '../../shared/package/install-event.js';
import type { Component } from '../../shared/package/manifest.js';
import { Problem } from '../../shared/problems.js';
import type { SecretRedactor } from '../../shared/secret-redactor.js';
import { makeSecretFolder, reason } from '../files/files.js';
import { type ComponentEnd, runExecutable } from './component-process.js';
import type { InstallInputs } from './inputs.js';
import type { InstallLock } from './installed.js';

export interface Work {
  readonly inputs: InstallInputs;
  readonly folder: string;
  readonly lock: InstallLock;
  readonly skipped: readonly string[];
  readonly redactor: SecretRedactor;
  readonly onEvent: (event: InstallEvent) => void;
  readonly signal: AbortSignal;
}

export const lastLines = 20;
const longestLine = 2000;

export async function execute(work: Work, component: Component, action: 'check' | 'install' | 'remove') {
  const { onEvent, redactor, skipped, inputs, signal, lock, folder } = work;
  const { name, step } = component;
  const lines: string[] = [];
  const end = await runExecutable({
    program: join(inputs.package.folder, component[action]),
    folder: inputs.package.folder,
    environment: environmentOf(inputs, folder, name, action),
    input: JSON.stringify({ ...inputOf(inputs, skipped, action), component: name } satisfies ComponentInput),
    timeoutSeconds: component.timeoutSeconds,
    signal,
    onStart: lock.runs,
    onLine(line) {
      const text = redactor.redact(line).slice(0, longestLine);
      const progress = readProgress(text);
      if (progress !== undefined) {
        onEvent({ type: 'component-progress', component: name, step, ...progress });
        return;
      }
      lines.push(text);
      if (lines.length > lastLines) lines.shift();
      onEvent({ type: 'component-log', component: name, step, text });
    },
  }).catch((error: unknown): never => {
    throw failed(component, `its ${action} cannot be started: ${reason(error)}`, {});
  });
  if (end.why === 'interrupted') {
    throw new Problem('detached', `Interrupted at ${component.title}.`, {
      advice: 'Run the same command again: it goes on where it stopped.',
    });
  }
  return { ...end, lines };
}

export const inputOf = (
  inputs: InstallInputs,
  skipped: readonly string[],
  action: ComponentInput['action'],
): ComponentInput => ({
  schema: 1,
  action,
  config: inputs.config,
  secrets: Object.fromEntries(inputs.secrets.secrets.map((secret) => [secret.name, secret])),
  values: [...inputs.values],
  images: inputs.package.manifest.images.map(({ name, tag, digest, path }) => ({
    name,
    tag,
    digest,
    ...(inputs.package.hasImages && { folder: join(inputs.package.folder, path) }),
  })),
  skipped: [...skipped],
});

/**
 * Of our own environment, only the proxy variables are passed on. Without them, a component would reach less of the network
 * than a shell beside it.
 */
export function environmentOf(
  inputs: InstallInputs,
  folder: string,
  name: string,
  action: string,
): Record<string, string> {
  const { manifest, folder: packageFolder } = inputs.package;
  const own = join(folder, 'components', name);
  makeSecretFolder(own);
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: own,
    LANG: 'C.UTF-8',
    PLINTH_ACTION: action,
    PLINTH_COMPONENT: name,
    PLINTH_DATACENTER: String(inputs.config.dataCenter.id),
    PLINTH_PACKAGE: packageFolder,
    PLINTH_PACKAGE_VERSION: manifest.version,
    PLINTH_PACKAGE_HASH: manifest.hash,
    PLINTH_ROOT: inputs.root,
    PLINTH_STATE: own,
    ...inputs.proxies,
  };
}

export const ending = (action: string, { exitCode, why }: ComponentEnd): string => {
  if (why === 'timeout') return `its ${action} took longer than it may`;
  return exitCode === undefined ? `its ${action} was killed` : `its ${action} ended with exit code ${exitCode}`;
};

export function failed(
  { name, step, title }: Pick<Component, 'name' | 'step' | 'title'>,
  why: string,
  { exitCode, lines = [] }: { readonly exitCode?: number | undefined; readonly lines?: readonly string[] },
): Problem {
  const temporary = exitCode === componentExits.temporary;
  const advice =
    exitCode === componentExits.config
      ? 'Correct the config or the secrets as it says, then run the same command again.'
      : `${temporary ? 'It says that this will pass: run' : 'Mend what it says, then run'} the same command again; what stands is not installed twice.`;
  return new Problem('install-failed', `${title} (step ${step}) could not be installed: ${why}.`, {
    advice,
    members: {
      component: name,
      step,
      temporary,
      lastLines: lines,
      ...(exitCode !== undefined && { componentExit: exitCode }),
    },
  });
}
