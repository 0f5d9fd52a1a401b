/**
 * Decides once how the machines of a bootstrap are logged in to: by SSH keys in their metadata, or by OS Login where the
 * organization requires it. What was decided stays, as standing machines would not follow.
 */
import { MachineLogin } from '../../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { defineStep, done, type StepCall } from '../../engine/step.js';
import { jumpboxName } from '../topology.js';
import { MachineLoginOutput } from './outputs.js';
import { policies } from './policies.js';
import { osLoginConstraint } from './policy-table.js';
import { findProject } from './project-place.js';

const needs = { policies } as const;
type Call = StepCall<typeof needs, undefined>;

const file = 'machine-login';

export const machineLogin = defineStep({
  name: 'machine-login',
  title: 'Login to machines',
  lane: 'cloud',
  prepares: 'again',
  needs,
  describe: () => ['choice of the login to machines: SSH keys in their metadata, or OS Login where it is required'],
  output: MachineLoginOutput,

  async observe(call) {
    const { data: by } = MachineLogin.safeParse(await call.files.read(file));
    if (by === undefined) return undefined;
    return {
      by,
      isRequired: isRequired(call),
      withoutEffect: by === 'keys' ? [] : withoutEffect(call.bootstrap.options),
    };
  },
  async run(call) {
    await call.files.write(file, (await standing(call)) ?? (isRequired(call) ? 'os-login' : 'keys'));
    return done;
  },
  goes: 'nothing',
  summary: ({ by }) => (by === 'os-login' ? 'by OS Login' : 'by SSH keys in the metadata'),
  warning({ by, isRequired, withoutEffect }) {
    if (by === 'os-login') {
      return `The organization requires OS Login, so people log in to machines as themselves. Without effect: ${withoutEffect.join(', ')}. Bring a key of your own: gcloud compute os-login ssh-keys add --key-file ~/.ssh/id_ed25519.pub`;
    }
    if (!isRequired) return undefined;
    return 'The organization requires OS Login by now. This bootstrap began with SSH keys in metadata, which its machines may ignore. A new bootstrap uses OS Login.';
  },
});

/** A policy that is unknown requires nothing. */
const isRequired = ({ needs }: Call): boolean =>
  needs.policies.findings.some(
    ({ constraint, state, value }) => constraint === osLoginConstraint && state === 'met' && value === 'enforced',
  );

const withoutEffect = ({ forge1TeamOrg, forge1TeamSlug }: BootstrapOptions): string[] => [
  'the SSH key of the command (--ssh-public-key-path)',
  ...(forge1TeamOrg === undefined ? [] : ['--forge1-team-org']),
  ...(forge1TeamSlug === undefined ? [] : ['--forge1-team-slug']),
];

/** The way of machines that stand: the record may have been lost. */
async function standing(call: Call): Promise<MachineLogin | undefined> {
  if ((await findProject(call))?.state !== 'ACTIVE') return undefined;
  const { context, bootstrap } = call;
  try {
    const { projectId, options } = bootstrap;
    const jumpbox = await context.cloud.compute.instance(projectId, options.zone, jumpboxName);
    if (jumpbox === undefined) return undefined;
    const items = jumpbox.metadata?.items ?? [];
    return items.some(({ key, value }) => key === 'enable-oslogin' && value?.toUpperCase() === 'TRUE')
      ? 'os-login'
      : 'keys';
  } catch (error) {
    // Compute Engine is not usable in the project yet: so there are no machines.
    if (error instanceof Problem && error.code === 'cloud-propagation') return undefined;
    throw error;
  }
}
