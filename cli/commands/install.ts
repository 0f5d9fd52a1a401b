/** `plinth install images|platform|user`: the part of plinth that runs on the jumpbox. It needs no plinth service. */
import type { Option } from '../../shared/bootstrap/options.js';
import type { InstallEvent } from '../../shared/package/install-event.js';
import { Problem } from '../../shared/problems.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { createUser } from '../install/create-user.js';
import { bringImages } from '../install/images.js';
import { readInputs } from '../install/inputs.js';
import { installPackage } from '../install/install.js';
import { amount } from '../machines/upload-text.js';

const options = ['installConfig', 'secretsFile', 'installHash', 'installVersion'] as const satisfies readonly Option[];
const flags = {
  package: 'The package: installer.tar.gz or installer-lite.tar.gz. (required)',
  'age-key': 'File with the age identity that opens the secrets file. By default age_key.txt beside it.',
  'state-dir': 'Where plinth remembers what is installed. By default /var/lib/platform/install.',
  root: 'Folder beneath which the components write. By default /.',
} as const;

const words: Readonly<Record<'checking' | 'installing' | 'removing', string>> = {
  checking: 'looks',
  installing: 'installs',
  removing: 'removes',
};

/** Prints events for programs, or lines for people. */
function teller({ output }: CommandContext): (event: InstallEvent) => void {
  return (event) => {
    output.event(event);
    if (output.json) return;
    switch (event.type) {
      case 'install-begun':
        output.say(
          `${event.package.name} ${event.package.version} (${event.package.hash}) in datacenter ${printable(event.datacenter.name)}`,
        );
        return;
      case 'component':
        output.say(`${event.component}: ${words[event.state]} …`);
        return;
      case 'component-progress':
        output.say(`${event.component}: ${event.done} of ${event.total} ${printable(event.text)}`);
        return;
      case 'component-log':
        output.trace(`${event.component}: ${event.text}`);
        return;
      case 'component-ended':
        output.say(`${event.component}: ${event.result} (${event.seconds.toFixed(1)} s)`);
        return;
      case 'images':
        output.say(
          `${event.done} of ${event.total} images, ${amount({ bytes: event.bytes, of: event.totalBytes })}, in ${printable(event.registry)}`,
        );
    }
  };
}

/** Prints the executable's last lines before the problem that they explain. */
async function tellingLastLines<T>({ output }: CommandContext, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const lines = error instanceof Problem ? error.members?.['lastLines'] : undefined;
    if (Array.isArray(lines) && lines.length > 0 && !output.json) {
      output.say('Its last lines:');
      for (const line of lines) output.say(`  ${printable(String(line))}`);
    }
    throw error;
  }
}

export const installPlatform = defineCommand({
  description: [
    'Installs the components of a package in their order. It first reads and checks everything: config, secrets, values, and every file of the package. With --install-hash or --install-version the package must match.',
    'It installs nothing twice: a component of the same package with the same config and secrets is only checked. Run the same command again after a failure or Ctrl-C, and it goes on where it stopped. It removes components that a package no longer has.',
    'It always leaves out the step kubernetes, because plinth installs that itself. It also leaves out load-container-images where the config says so, and the steps in operations.skip of the config.',
    'It decrypts secrets in memory, and hands them to components only by standard input.',
  ],
  options: [...options, 'installSkipSteps', 'pcAppsValues'],
  flags,
  examples: [
    'plinth install platform --package installer.tar.gz --install-config /etc/platform/config.yaml --secrets-file /etc/platform/secrets/prod.vault.yaml',
    'plinth install platform --package installer.tar.gz -s ceph -s docker --json',
  ],

  async run(call) {
    const inputs = await readInputs(call);
    const { manifest } = inputs.package;
    const unknown = inputs.skip.filter((step) => !manifest.components.some((component) => component.step === step));
    if (unknown.length > 0) {
      call.output.warn(`--install-skip-steps names steps that this package does not have: ${unknown.join(', ')}`);
    }
    const { components } = await tellingLastLines(call, installPackage(inputs, teller(call), call.interrupted));
    const { name, version, hash } = manifest;
    const count = (result: string) => components.filter((component) => component.result === result).length;
    return {
      data: { package: { name, version, hash }, components },
      show: () =>
        `${name} ${version} is installed: ${count('installed')} new, ${count('unchanged')} unchanged, ${count('skipped')} skipped${count('removed') > 0 ? `, ${count('removed')} removed` : ''}.`,
    };
  },
});

export const installUser = defineCommand({
  description: [
    "Calls the package's hook that makes a user, and prints the user, the token and the URL of the API. It prints them only once, because the platform keeps only a hash of the token.",
    'If a user of that name exists, they get a new token, and the old one stops working.',
  ],
  options,
  flags: { ...flags, user: 'Name of the user. By default test-user.' },
  examples: ['plinth install user --package installer.tar.gz --user smoke-test --json'],

  async run(call) {
    const inputs = await readInputs(call);
    const name = call.word('user')?.text ?? 'test-user';
    const made = await tellingLastLines(call, createUser(inputs, name, teller(call), call.interrupted));
    return { data: { ...made }, show: () => JSON.stringify(made), reveals: [made.token] };
  },
});

const { package: archive, 'age-key': ageKey, 'state-dir': stateDir } = flags;

export const installImages = defineCommand({
  description: [
    'Copies with skopeo what is not there by its digest, and then checks the digest of each image. Run the same command again after an interruption, and it goes on where it stopped.',
    'Images come out of the package. Those that installer-lite.tar.gz lacks come from the registry of --from, with the login that skopeo has for it (skopeo login).',
    "It logs in to the config's registry by registryUsername and registryPassword of the secrets file. For type artifact-registry it uses a token of this machine's own identity. Nodes pull from a registry of type forge1 themselves.",
  ],
  options,
  flags: {
    package: archive,
    'age-key': ageKey,
    'state-dir': stateDir,
    from: 'URL of the registry that has the images which the package lacks.',
    'dry-run': 'Only look: fails if an image is missing.',
  },
  examples: [
    'plinth install images --package installer.tar.gz --install-config /etc/platform/config.yaml --secrets-file /etc/platform/secrets/prod.vault.yaml',
    'plinth install images --package installer-lite.tar.gz --from https://ghcr.io',
  ],

  async run(call) {
    const from = call.word('from');
    const url = from !== undefined && URL.canParse(from.text) ? new URL(from.text) : undefined;
    if (from !== undefined && url === undefined)
      throw new Problem('bad-input', '--from must be the URL of a registry.');
    const inputs = await readInputs(call);
    const report = await bringImages(inputs, {
      from: url,
      onlyLook: call.has('dry-run'),
      settings: call.settings,
      onEvent: teller(call),
      signal: call.interrupted,
    }).catch((error: unknown): never => {
      if (!call.interrupted.aborted) throw error;
      throw new Problem('detached', 'Interrupted while images were copied.', {
        advice: 'Run the same command again: it goes on where it stopped.',
      });
    });
    const { images, missing, copied, registry } = report;
    const show = () => `${images.length} images stand in ${registry}, ${copied} of them copied now.`;
    if (missing.length === 0) return { data: { ...report }, show };
    const problem = new Problem('not-found', `Not in ${registry}: ${missing.join(', ')}.`, {
      advice: 'Run the same command without --dry-run.',
    });
    return { data: { ...report }, problem };
  },
});
