/** `plinth beta bootstrap-cloud share|transfer`: who else sees a project, and who owns it. For its owner and operators. */
import { Email } from '../../shared/organization/email.js';
import { Problem } from '../../shared/problems.js';
import { idOf } from '../bootstrap/named.js';
import { teamOf } from '../bootstrap/team-flag.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { confirm, unasked } from '../frame/confirm.js';
import { printable } from '../frame/output.js';
import { refusal, required } from '../frame/required.js';

/** The e-mail of `--with`. A fault in it is reported before any question or request. */
function somebody(call: CommandContext): string {
  const given = Email.safeParse(required(call, 'with').with);
  if (given.success) return given.data;
  throw refusal([
    ...call.faults,
    { path: '--with', message: given.error.issues[0]?.message ?? 'is no e-mail address' },
  ]);
}

/** A person by e-mail, or a team by number. Faults in them are reported before any request. */
function whomOf(call: CommandContext): { readonly email: string } | { readonly team: number } {
  const [one, other] = [call.word('with'), call.word('with-team')];
  if (other === undefined) return { email: somebody(call) };
  if (one !== undefined) throw refusal([...call.faults, { path: '--with-team', message: 'goes not with --with' }]);
  return { team: teamOf(call, 'with-team') ?? 0 };
}

export const share = defineCommand({
  description: [
    'Whoever you share a project with sees it in list and status, follows it, reads its install config and may extend it. On the cloud project they may look, log in, start and stop machines and read logs, as far as you may. Secrets, protection, cancelling and removal stay with its owner and operators.',
    'With a team, its members see the project, and its admins also extend, protect and remove it. Who leaves the team loses it at once, and the role on the cloud project within about a minute.',
    'SSH keys are not shared: add theirs to the team of your forge, or to the machines, yourself. --remove takes the share and the role back. What they have read or made meanwhile stays.',
    'Only who may bootstrap here can be invited, or gets a role by a team.',
  ],
  flags: {
    with: 'E-mail of the person or service account. (required, unless --with-team is given)',
    'with-team': 'Number of the team, instead of a person.',
    remove: 'Share it with them no more.',
  },
  examples: [
    'plinth beta bootstrap-cloud share demo --with bob@example.com',
    'plinth beta bootstrap-cloud share demo --with-team 42',
    'plinth beta bootstrap-cloud share demo --with bob@example.com --remove',
  ],

  async run(call) {
    const whom = whomOf(call);
    const client = await call.connect();
    const id = await idOf(call, client);
    const named = 'team' in whom ? `team ${whom.team}` : printable(whom.email);
    if (call.has('remove')) {
      const view = 'team' in whom ? await client.unshareWithTeam(id, whom.team) : await client.unshare(id, whom.email);
      return {
        data: { bootstrap: view },
        show: () => `${view.name} is not shared with ${named}; their role on ${view.projectId} goes in a moment.`,
      };
    }
    const { invited, ...view } =
      'team' in whom ? await client.shareWithTeam(id, whom.team) : await client.share(id, whom.email);
    return {
      data: { bootstrap: view, ...(invited === undefined ? {} : { invited }) },
      show: () =>
        [
          `${view.name} is shared with ${named}; their role on ${view.projectId} follows in a moment.`,
          ...(invited === undefined
            ? []
            : ['With it they may, as far as its owner may:', ...invited.may.map((each) => `- ${printable(each)}`)]),
          ...(invited?.also ?? []).map((role) => `They also get ${printable(role)}.`),
          ...(invited?.limitedBy === undefined ? [] : [printable(invited.limitedBy)]),
        ].join('\n'),
    };
  },
});

export const transfer = defineCommand({
  description: [
    'The project has another owner: it counts to their limit, and only they and operators decide about it. They must be allowed to bootstrap. You no longer see it, and your role on the cloud project goes. They may share it with you.',
    'Machines accept your SSH key until the new owner runs the bootstrap-cloud command again with theirs. You still know the secrets that you have read.',
  ],
  flags: {
    with: 'E-mail of the new owner. (required)',
    yes: 'Do not ask. Needed where there is no terminal to ask on.',
  },
  examples: [
    'plinth beta bootstrap-cloud transfer demo --with bob@example.com',
    'plinth beta bootstrap-cloud transfer demo --with bob@example.com --yes',
  ],

  async run(call) {
    const email = somebody(call);
    const silence = unasked(call);
    if (silence.length > 0) throw refusal([...call.faults, ...silence]);
    const client = await call.connect();
    const id = await idOf(call, client);
    if (!call.has('yes')) {
      const { name, projectId, owner } = await client.get(id);
      call.output.say(
        `This gives ${printable(name)} (${projectId}) of ${printable(owner)} to ${printable(email)}. Only they or an operator can give it back; whose it was sees it no more.`,
      );
      if (!(await confirm('Give it away?', call)))
        throw new Problem('bad-input', 'That is no yes; nothing was changed.');
    }
    const view = await client.transfer(id, email);
    return {
      data: { bootstrap: view },
      show: () => `${view.name} (${view.projectId}) is ${printable(view.owner)}'s now.`,
    };
  },
});
