/** `plinth beta bootstrap-cloud`: begins or resumes a bootstrap. */
import { optionNames } from '../../shared/bootstrap/options.js';
import { bootstrapProject } from '../bootstrap/bootstrap-project.js';
import { checkBeforehand } from '../bootstrap/checked-flags.js';
import { defineCommand } from '../frame/command.js';

export const bootstrapCloud = defineCommand({
  description: [
    'Bootstraps the cloud infrastructure that platform clusters need: a cloud project with service accounts and the IAM roles they require, network, jumpbox and machines, addresses and DNS. Writes an install config with its secrets. Further configuration may be needed afterwards, depending on the setup.',
    'This command is beta and not for production use. The project is removed when its time to live (--project-ttl) is over.',
    'You need permission to bootstrap in this deployment of plinth, for the billing account, the folder and the DNS zone that you name. plinth itself creates and manages the cloud resources.',
    'With --multi-dc two datacenters are made: 14 VMs with about 100 vCPUs and 6 reserved static addresses. The CPU quota of the region may need raising first.',
    'Run the same command again to go on with a bootstrap that exists. Ctrl-C detaches: the bootstrap goes on without you. Secrets may also come from the environment variables in square brackets.',
  ],
  options: optionNames,
  flags: {
    check: 'Look at all that the bootstrap needs, and tell at once what stops it. Makes nothing.',
    'dry-run':
      'Print what would be made, changed, kept and given up, and what it costs. Makes nothing. Where the service does not answer, only what the flags say, with exit code 6.',
    plan: 'Write that plan to this file, and make nothing.',
    apply: 'Carry out exactly the plan in this file, with the same flags. If anything differs by now, nothing is done.',
    strict: 'Refuse what would otherwise be warned about.',
    team: 'Number of your team that the project belongs to. Its members see it, and its admins extend, protect and remove it.',
    'max-cost':
      'The most that the project may cost in all, in USD by the estimate, such as 12.50. It is removed as soon as that is spent, if that is before its time to live.',
  },
  examples: [
    'plinth beta bootstrap-cloud --project-name demo --billing-account 012345-6789AB-CDEF01 --base-domain demo.example.com --forge1-app-client-id ID --forge1-app-client-secret SECRET --spot-vms --timer',
    'plinth beta bootstrap-cloud --check --project-name demo --billing-account 012345-6789AB-CDEF01 --base-domain demo.example.com --forge1-app-client-id ID --forge1-app-client-secret SECRET',
    'plinth beta bootstrap-cloud --dry-run --project-name demo --billing-account 012345-6789AB-CDEF01 --base-domain demo.example.com --forge1-app-client-id ID --forge1-app-client-secret SECRET',
  ],

  async run(call) {
    if (call.has('check')) return checkBeforehand(call);
    return bootstrapProject(call);
  },
});
