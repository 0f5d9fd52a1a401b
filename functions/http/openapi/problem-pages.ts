/** The page that a problem's `type` leads to. Served beside each API, for anybody. */
import type { problemRoutes } from '../../../shared/api.js';
import { type ProblemCode, problemKinds } from '../../../shared/problems.js';
import type { Handlers } from '../router.js';

/** When it occurs and what to do. */
const explanations: Readonly<Record<ProblemCode, string>> = {
  'bad-input':
    'Something in the request does not fit: a field, a flag, a parameter of the path or query, or the JSON itself. “errors” lists every fault. Nothing was made.',
  'members-outside':
    'Every member of a team in an organization is a member of that organization. “members” lists those who are not. Add them to the organization, or migrate with force, which removes them from the team. Nothing has changed.',
  unauthenticated:
    'The request bears no ID token, or one that is expired, made for another audience, or not signed by the issuer of this deployment. Get a new one and try again.',
  forbidden:
    'The caller is known but may not do this, or not with this billing account, parent or DNS zone. “detail” says which; an admin of the organization, or an operator of the deployment, can change it.',
  'not-found': 'It does not exist, or the caller may not see it. The two look the same on purpose.',
  'method-not-allowed': 'The path exists but does not take this method. The header “Allow” says which it takes.',
  conflict:
    'What was asked does not fit what stands: the name belongs to somebody else, an option cannot change once made, a file is not ready yet, a member has another role or is the last admin, or a request with the same Idempotency-Key is in flight. “detail” says which.',
  'precondition-failed': 'Somebody changed it since it was read. Read it again, then decide again.',
  'payload-too-large': 'Bodies are taken up to 64 KiB, and up to 2 MiB where a bootstrap begins.',
  'unsupported-media-type': 'Bodies are application/json in UTF-8, uncompressed.',
  'key-reused': 'An Idempotency-Key stands for one request. Use a new key for another body.',
  stopped:
    'An operator of this deployment has stopped new bootstraps; “reason” says why. What stands is resumed, extended and removed all the same. Try again when they are started again.',
  'too-many': 'As many live at once as may, for this owner or in all. Wait until one is removed, or remove one.',
  internal: 'A fault of plinth itself. “instance” is the trace id by which operators find what happened in the log.',
  unavailable: 'Something that plinth needs does not answer now. Try again after “Retry-After”.',
  'cloud-unavailable': 'Google Cloud failed or did not answer. A running bootstrap tries again by itself.',
  'cloud-rate': 'Google Cloud limits the rate of calls. A running bootstrap waits and tries again by itself.',
  'cloud-propagation':
    'Grants, new APIs and new accounts take minutes to be seen everywhere in Google Cloud. A running bootstrap waits up to ten minutes.',
  'cloud-capacity':
    'The zone has no machines of this kind now. Spot VMs fall back to standard ones; else try another zone, or later.',
  'cloud-quota':
    'A quota of the project, region or billing account is used up. “detail” names it; raise it in the console, then run the same command again.',
  'cloud-permission': 'Google Cloud denied plinth a permission. An operator of the deployment can grant it.',
  'cloud-input': 'Google Cloud refused a value. “detail” says which; correct the flag and run the command again.',
  'cloud-not-found': 'Something that should stand in Google Cloud is not there; the same command again makes it anew.',
  'cloud-conflict': 'Something of this name stands in Google Cloud and is not ours; it is never changed or taken over.',
  'host-unreachable':
    'A machine does not answer over SSH, or the connection to it was lost. A running bootstrap tries again by itself.',
  'host-login':
    'A machine refused the key. Keys that were given to a VM just now take a while to arrive there: a running bootstrap waits up to ten minutes.',
  'host-changed':
    'The machine that answers has another host key than the one that was published by the VM, so nothing was sent to it. If the VM was made anew, run the same command again; else somebody may be in between: “detail” holds both fingerprints.',
  'host-full':
    'A disk of a machine is full; “detail” names machine and path. Make room there, then run the same command again.',
  'host-failed': 'A command on a machine failed; “detail” says which and what it said last.',
  'versions-differ':
    'The command line is of another version than the service, and cannot read its answer. “advice” says which of them to bring up to date.',
  'bootstrap-failed': 'A step failed for good. What stands is kept; the same command again resumes it.',
  'install-failed':
    'A component of the package could not be installed on the jumpbox. What stands is kept; the same command again goes on.',
  detached: 'The caller stopped watching. The bootstrap goes on without them.',
  interrupted: 'The caller stopped the command line while it waited. A change that was under way may have been made.',
};

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const pageOf = (code: ProblemCode): string => {
  const { title, status, exit } = problemKinds[code];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
<p>${escaped(explanations[code])}</p>
<p>HTTP status ${status}, code <code>${code}</code>; the command exits with ${exit}.</p>
</html>
`;
};

export const problemHandlers: Handlers<typeof problemRoutes> = {
  explainProblem: async ({ params }) => ({
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'cache-control': 'public, max-age=3600',
    },
    body: pageOf(params.code),
  }),
};
