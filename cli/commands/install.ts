/** `plinth install images|platform|user`: the part of plinth that runs on the jumpbox. Needs no plinth service. */
import type { Option } from '../../shared/bootstrap/options.js';
import type { InstallEvent } from '../../shared/package/install-event.js';
import { Problem } from '../../shared/problems.js';
import { type Call, defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { amount } from '../machines/upload-text.js';

const options = ['installConfig', 'secretsFile', 'installHash', 'installVersion'] as const satisfies readonly Option[];
const flags = {
  package: 'The package: installer.tar.gz or installer-lite.tar.gz. (required)',
  'age-key': 'File with the age identity that opens the secrets file; by default age_key.txt beside that.',
  'state-dir': 'Where plinth remembers what is installed; by default /var/lib/platform/install.',
  root: 'Folder beneath which the components write; by default /.',
} as const;

const words: Readonly<Record<'checking' | 'installing' | 'removing', string>> = {
  checking: 'looks',
  installing: 'installs',
  removing: 'removes',
};

/** Events for programs, or lines for people. */
function teller({ output }: Call): (event: InstallEvent) => void {
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

/** What the executable said last, before what it means. */
async function tellingLastLines<T>({ output }: Call, work: Promise<T>): Promise<T> {
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
  words: 'install platform',
  summary: 'Install the platform from a package; runs on the jumpbox',
  description: [
    'Installs the components of a package in their order. Everything is read and checked first: config, secrets, values, and every file of the package. With --install-hash or --install-version the package must bear it.',
    'What stands is not installed twice: a component of the same package with the same config and secrets is only looked at. Run the same command again after a failure or Ctrl-C; it goes on where it stopped. Components that a package no longer has are removed.',
    'The step kubernetes is always left out, as plinth installs it itself; so are load-container-images where the config says that images are not loaded, and the steps in operations.skip of the config.',
    'Secrets are decrypted in memory and reach the components by standard input alone.',
  ],
  options: [...options, 'installSkipSteps', 'pcAppsValues'],
  flags,
  examples: [
    'plinth install platform --package installer.tar.gz --install-config /etc/platform/config.yaml --secrets-file /etc/platform/secrets/prod.vault.yaml',
    'plinth install platform --package installer.tar.gz -s ceph -s docker --json',
  ],

  async run(call) {
    const [{ readInputs }, { installPlatform: install }] = await Promise.all([
      import('../install/inputs.js'),
      import('../install/install.js'),
    ]);
    const inputs = await readInputs(call);
    const { manifest } = inputs.package;
    const unknown = inputs.skip.filter((step) => !manifest.components.some((component) => component.step === step));
    if (unknown.length > 0) {
      call.output.warn(`--install-skip-steps names steps that this package does not have: ${unknown.join(', ')}`);
    }
    const { components } = await tellingLastLines(call, install(inputs, teller(call), call.interrupted));
    const { name, version, hash } = manifest;
    const count = (result: string) => components.filter((component) => component.result === result).length;
    return {
      data: { package: { name, version, hash }, components },
      show: () =>
        `${name} ${version} stands: ${count('installed')} installed, ${count('unchanged')} as they were, ${count('skipped')} left out${count('removed') > 0 ? `, ${count('removed')} removed` : ''}.`,
    };
  },
});

export const installUser = defineCommand({
  words: 'install user',
  summary: 'Make a user with an API token on the installed platform; runs on the jumpbox',
  description: [
    "Calls the package's hook that makes a user, and prints the user, the token and the URL of the API, this once: the platform keeps but a hash of the token.",
    'A user of that name that stands gets a new token; the old one is no longer good.',
  ],
  options,
  flags: { ...flags, user: 'Name of the user; by default test-user.' },
  examples: ['plinth install user --package installer.tar.gz --user smoke-test --json'],

  async run(call) {
    const [{ readInputs }, { createUser }] = await Promise.all([
      import('../install/inputs.js'),
      import('../install/create-user.js'),
    ]);
    const inputs = await readInputs(call);
    const name = call.word('user')?.text ?? 'test-user';
    const made = await tellingLastLines(call, createUser(inputs, name, teller(call), call.interrupted));
    return { data: { ...made }, show: () => JSON.stringify(made) };
  },
});

const { package: archive, 'age-key': ageKey, 'state-dir': stateDir } = flags;

export const installImages = defineCommand({
  words: 'install images',
  summary: 'Bring the images of a package to the registry that the config names; runs on the jumpbox',
  description: [
    'Copies, by skopeo, what is not there by its digest, and holds each image against its digest once it is there. Run the same command again after an interruption; it goes on where it stopped.',
    'Images come out of the package; those that installer-lite.tar.gz lacks from the registry of --from, with the login that skopeo has for it (skopeo login).',
    "The config's registry is opened by registryUsername and registryPassword of the secrets file; one of type artifact-registry by a token of this machine's own identity. Nodes pull from a registry of type forge1 themselves.",
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
    const [{ readInputs }, { bringImages }] = await Promise.all([
      import('../install/inputs.js'),
      import('../install/images.js'),
    ]);
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
