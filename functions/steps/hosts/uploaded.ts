/**
 * Finds a file of the caller's on the jumpbox, by its hash. The caller's machine sends it there over SSH, or to Cloud Storage,
 * from where the jumpbox fetches it by a signed URL.
 */
import { type Upload, uploadPath } from '../../../shared/bootstrap/upload.js';
import { Problem } from '../../../shared/problems.js';
import { needsClient, type Outcome, type StepCall } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { followJob } from './follow-job.js';
import { fetchFailed, noConfig, runScript } from './script.js';
import { type UploadPlace, uploadPlace } from './upload-place.js';

type Call = Pick<StepCall, 'bootstrap' | 'context' | 'log' | 'secrets' | 'signal'>;

const home = '/home/ubuntu';
const urlSeconds = 3600;

/** The path of the whole file, or what the step returns meanwhile. `what` says for people which file it is. */
export async function uploaded(call: Call, host: Host, upload: Upload, what: string): Promise<string | Outcome> {
  const path = `${home}/${uploadPath(upload)}`;
  if (await isThere(host, path, upload)) return path;
  const { context, bootstrap } = call;
  const place = uploadPlace(context.config, bootstrap, upload);
  const bytes = place === undefined ? undefined : await context.cloud.uploads.size(place);
  if (place === undefined || bytes === undefined) return needsClient(what);
  if (bytes !== upload.bytes) {
    await context.cloud.uploads.remove(place);
    throw another(upload, `it has ${bytes} bytes, not ${upload.bytes}`);
  }
  return fetchIt(call, host, upload, { place, path });
}

async function isThere(host: Host, path: string, { sha256 }: Upload): Promise<boolean> {
  const { exitCode } = await runScript(host, 'echo "$2  $1" | sha256sum --check --status', [path, sha256]);
  return exitCode === 0;
}

/** In memory and only for root. Anybody with a signed URL may read the file. */
const addressOf = (sha256: string): string => `/run/plinth/${sha256}.upload`;
/** Tells a wrong hash from a machine without room, or one that can't reach Cloud Storage. */
const wrongOf = (sha256: string): string => `/run/plinth/${sha256}.wrong`;

async function fetchIt(
  call: Call,
  host: Host,
  upload: Upload,
  { place, path }: { readonly place: UploadPlace; readonly path: string },
): Promise<string | Outcome> {
  const { storage, uploads } = call.context.cloud;
  const [address, wrong] = [addressOf(upload.sha256), wrongOf(upload.sha256)];
  const provide = async (): Promise<void> => {
    const url = await storage.signedUrl(place, urlSeconds, call.context.clock.now());
    await host.upload(address, `url = "${url}"\n`, { mode: 0o600 });
  };
  const script = fetched(path, upload, { address, wrong });
  const outcome = await followJob(call, host, {
    name: 'upload',
    script,
    what: `Fetching ${upload.name}`,
    isThere: () => isThere(host, path, upload),
    before: provide,
    exitCodeWithoutIt: noConfig,
    afterFailure: async () => {
      const { exitCode } = await runScript(host, 'rm -f "$1"; [ -e "$2" ] && rm -f "$2"', [address, wrong]);
      if (exitCode !== 0) return;
      await uploads.remove(place);
      throw another(upload, `its SHA-256 is not ${upload.sha256}`);
    },
  });
  if (outcome.kind !== 'done') return outcome;
  await uploads.remove(place);
  return path;
}

const another = ({ name }: Upload, how: string): Problem =>
  new Problem('host-failed', `What arrived in Cloud Storage as ${name} is another file: ${how}. Nothing used it.`, {
    advice: 'It has been deleted. Run the same command again: it uploads the file anew.',
  });

/** An interrupted download continues where it stopped. The file belongs to who could have sent it over SSH. */
const fetched = (
  path: string,
  { sha256, bytes }: Upload,
  { address, wrong }: { readonly address: string; readonly wrong: string },
): string => `set -eu
${fetchFailed}
umask 077
mkdir -p ${home}/.plinth/uploads
chown --reference=${home} ${home}/.plinth ${home}/.plinth/uploads
curl --config ${address} --fail --silent --show-error --retry 5 --max-filesize ${bytes} --continue-at - --output ${path}.part || fetch_failed $? ${path}.part
rm -f ${address}
sum=$(sha256sum < ${path}.part)
[ "$sum" = '${sha256}  -' ] || { rm -f ${path}.part; : > ${wrong}; echo "its SHA-256 is \${sum%% *}, not ${sha256}" >&2; exit 65; }
chown --reference=${home} ${path}.part
mv -f ${path}.part ${path}
`;
