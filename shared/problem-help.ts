/**
 * Help for the person who meets a problem: when it occurs, and what to do. The page of each problem's `type` shows it, and so
 * does docs/use/troubleshooting.md.
 */
import type { ProblemCode } from './problems.js';

export interface ProblemHelp {
  readonly cause: string;
  readonly wayOut: string;
}

export const problemHelp: Readonly<Record<ProblemCode, ProblemHelp>> = {
  'bad-input': {
    cause:
      'Something in the request does not fit: a field, a flag, a parameter of the path or query, or the JSON itself. Nothing was made.',
    wayOut: '“errors” lists every fault. Correct them all and send the request again.',
  },
  'members-outside': {
    cause:
      'Every member of a team in an organization is a member of that organization. “members” lists those who are not. Nothing has changed.',
    wayOut: 'Add them to the organization, or migrate with force, which removes them from the team.',
  },
  unauthenticated: {
    cause:
      'The request has no ID token, or one that is expired, made for another audience, or not signed by the issuer of this deployment.',
    wayOut: 'Get a new token and try again. On the command line, run “plinth login”, then “plinth doctor”.',
  },
  forbidden: {
    cause:
      'The caller is known but may not do this, or not with this billing account, parent or DNS zone. “detail” says which.',
    wayOut: 'Ask an admin of the organization, or an operator of the deployment, to allow it.',
  },
  'not-found': {
    cause: 'It does not exist, or the caller may not see it. The two look the same on purpose.',
    wayOut: 'Check the name or id. If it should exist, ask its owner or an operator to let you see it.',
  },
  'method-not-allowed': {
    cause: 'The path exists but does not take this method.',
    wayOut: 'The header “Allow” says which methods it takes.',
  },
  conflict: {
    cause:
      'The request does not fit the present state. The name belongs to somebody else, an option can no longer change, or a file is not ready yet. Or a member has another role or is the last admin. Or a request with the same Idempotency-Key is in flight.',
    wayOut: '“detail” says which of these it is, and “advice” what to do.',
  },
  'precondition-failed': {
    cause: 'Somebody changed it since it was read.',
    wayOut: 'Read it again, then decide again.',
  },
  'payload-too-large': {
    cause: 'The body is larger than 64 KiB, or than 2 MiB where a bootstrap begins.',
    wayOut: 'Send a smaller body.',
  },
  'unsupported-media-type': {
    cause: 'The body is not application/json in UTF-8, or it is compressed.',
    wayOut: 'Send plain JSON with that content type.',
  },
  'key-reused': {
    cause: 'An Idempotency-Key stands for one request, and this one was sent with another body.',
    wayOut: 'Use a new key for another body.',
  },
  stopped: {
    cause: 'An operator of this deployment has stopped new bootstraps. “reason” says why.',
    wayOut: 'Wait until they are started again. Present bootstraps can still be resumed, extended and removed.',
  },
  'too-many': {
    cause:
      'No more bootstraps may live at once: for this owner, this team, its organization, or in all. Or one caller made more in a minute than they may. Or the line of events that go to the webhook again is full. “limit” says which.',
    wayOut: 'Wait until one is removed, or remove one. For the others, wait the seconds that `Retry-After` says.',
  },
  'over-ceiling': {
    cause:
      'By its estimated price it would cost more than this deployment allows: in an hour, or in a month for its owner or in all. Or a price is missing, and there is a ceiling. Or its VMs are stopped for that reason.',
    wayOut:
      'Give a shorter “--project-ttl”, “--spot-vms” or “--max-cost”, remove what you no longer need, or ask an operator to raise the ceiling. “restart-vms” then starts stopped VMs again.',
  },
  internal: {
    cause: 'A fault of plinth itself.',
    wayOut:
      'Run the same command again. If it comes back, give the trace id in “instance” to an operator, who finds it in the log.',
  },
  unavailable: {
    cause: 'Something that plinth needs does not answer now.',
    wayOut: 'Try again after “Retry-After”.',
  },
  'cloud-unavailable': {
    cause: 'Google Cloud failed or did not answer.',
    wayOut: 'A running bootstrap tries again by itself. If it has failed, run the same command again later.',
  },
  'cloud-rate': {
    cause: 'Google Cloud limits the rate of calls.',
    wayOut: 'A running bootstrap waits and tries again by itself. If it has failed, run the same command again later.',
  },
  'cloud-propagation': {
    cause: 'Grants, new APIs and new accounts take minutes to be seen everywhere in Google Cloud.',
    wayOut:
      'A running bootstrap waits up to ten minutes. If it has failed, check that nobody took rights away, and run the same command again.',
  },
  'cloud-capacity': {
    cause: 'The zone has no machines of this kind now. Spot VMs have already fallen back to standard ones.',
    wayOut: 'Try later, or another zone.',
  },
  'cloud-quota': {
    cause: 'A quota of the project, region or billing account is used up. “detail” names it.',
    wayOut:
      'Wait as Google answered, take another region, or raise the quota, then run the same command again. “advice” has the commands. An operator reads “Quotas” in docs/operate/deploy.md.',
  },
  'cloud-permission': {
    cause: 'Google Cloud denied plinth a permission.',
    wayOut: 'Ask an operator of the deployment to grant it, then run the same command again.',
  },
  'cloud-policy': {
    cause:
      'An organization policy forbids what plinth asked for. The problem names the constraint and the folder or organization where it is in force. Most are told at once, by the step “policies”, before anything is made. A policy that plinth could not read or judge is a warning beforehand, and may be refused later.',
    wayOut:
      'The problem has the “gcloud org-policies describe” that shows each one. Ask somebody with “roles/orgpolicy.policyAdmin” on the organization to allow it for the folder of the projects. Or give another “--folder-id”. A change takes up to 15 minutes. Then run the same command again: it reads the policies anew.',
  },
  'cloud-input': {
    cause: 'Google Cloud refused a value. “detail” says which.',
    wayOut: 'Correct the flag and run the command again.',
  },
  'cloud-not-found': {
    cause: 'Something that should be in Google Cloud is not there.',
    wayOut: 'Run the same command again: it makes it anew.',
  },
  'cloud-conflict': {
    cause:
      'Google Cloud already has something of this name, and it is not ours. Or a lien forbids the deletion of a project. plinth never changes or removes either.',
    wayOut: 'Rename or remove it if it is yours, or remove the lien, then run the same command again.',
  },
  'host-unreachable': {
    cause: 'A machine does not answer over SSH, or the connection to it was lost.',
    wayOut:
      'A running bootstrap tries again by itself. If it has failed, see whether the VM runs: “restart-vms” starts it.',
  },
  'host-login': {
    cause:
      'A machine refused the key. A key that was given to a VM just now takes a while to arrive there. Where the organization requires OS Login, Google refuses who has no key in their profile, or no role.',
    wayOut:
      'A running bootstrap waits up to ten minutes. With OS Login, bring your key first: “gcloud compute os-login ssh-keys add --key-file ~/.ssh/id_ed25519.pub”. If it has failed, run the same command again.',
  },
  'host-changed': {
    cause:
      'The machine that answers has another host key than the one that its VM published, so nothing was sent to it. “detail” holds both fingerprints.',
    wayOut:
      'If the VM was made anew, run the same command again. Otherwise somebody may be in between: tell an operator.',
  },
  'host-full': {
    cause: 'A disk of a machine is full. “detail” names machine and path.',
    wayOut: 'Make room there, then run the same command again.',
  },
  'host-failed': {
    cause: 'A command on a machine failed. “detail” says which, and what it said last.',
    wayOut: 'Read the machine logs with the command “logs”, heal the cause, and run the same command again.',
  },
  'versions-differ': {
    cause: 'The command line and the service have different versions, and it cannot read the answer.',
    wayOut: '“advice” says which of them to bring up to date.',
  },
  'bootstrap-failed': {
    cause: 'A step failed for good. Whatever was made is kept.',
    wayOut: 'Heal what “detail” names, then run the same command again. It goes on from there.',
  },
  'install-failed': {
    cause: 'A component of the package could not be installed on the jumpbox. Whatever was installed is kept.',
    wayOut: 'Read its last lines, heal the cause, then run the same command again. It goes on from there.',
  },
  detached: {
    cause: 'The caller stopped watching. The bootstrap goes on without them.',
    wayOut: 'Follow it again with “status --follow”.',
  },
  interrupted: {
    cause: 'The caller stopped the command line while it waited. A change that was under way may have been made.',
    wayOut: 'Look at the present state, then decide whether to run the command again.',
  },
};
