/** Sessions of resumable uploads: what a session takes, and what it keeps. The chunks go to the session's own URI, past the recording. */
import { type Bench, type Check, heldIf } from '../check.js';

const unit = 256 * 1024;
const whole = 2 * unit + 10;

const bucketOf = ({ project }: Bench): string => `${project}-uploads`;

interface Answer {
  readonly status: number;
  /** How many bytes the session has, if it tells. */
  readonly kept: number | undefined;
  /** Of the object that it became. */
  readonly size: string | undefined;
  readonly text: string;
}

async function chunk(bench: Bench, bytes: number, range: string): Promise<Answer> {
  const { fact, signal } = bench;
  const reply = await fetch(fact('upload-session'), {
    method: 'PUT',
    headers: { 'content-range': range },
    body: 'a'.repeat(bytes),
    redirect: 'manual',
    signal,
  });
  const last = /^bytes=0-(\d+)$/.exec(reply.headers.get('range') ?? '')?.[1];
  const text = (await reply.text()).replaceAll(/\s+/g, ' ');
  const kept = last === undefined ? undefined : Number(last) + 1;
  return { status: reply.status, kept, size: /"size": ?"(\d+)"/.exec(text)?.[1], text: text.slice(0, 200) };
}

const said = ({ status, kept, size, text }: Answer): string =>
  size === undefined ? `${status}, keeps ${kept ?? 'nothing'}: ${text || 'no words'}` : `${status}, ${size} bytes`;

export const uploadChecks: readonly Check[] = [
  {
    id: 'uploads.session',
    believes: 'A session of an upload is begun with the size of the object, and its URI takes chunks without a token.',
    source: 'documented',
    makes: 'a bucket',
    needs: ['services.each-api'],
    async run(bench) {
      const { ask, cloud, facts, project, region, until } = bench;
      const body = {
        name: bucketOf(bench),
        location: region,
        iamConfiguration: { uniformBucketLevelAccess: { enabled: true } },
      };
      const made = await until(120, async () => {
        const { status } = await ask('storage', `POST /storage/v1/b?project=${project}`, body);
        return status === 200 || status === 409 ? status : undefined;
      });
      if (made === undefined) return heldIf(false, 'the bucket can not be made within two minutes');
      facts.set('upload-session', await cloud.uploads.begin({ bucket: body.name, object: 'first-contact' }, whole));
      const asked = await chunk(bench, 0, `bytes */${whole}`);
      return heldIf(asked.status === 308 && asked.kept === undefined, said(asked));
    },
  },
  {
    id: 'uploads.small-chunk',
    believes: 'A session refuses a chunk of less than 256 KiB with 400, unless it is the last one.',
    source: 'reported',
    needs: ['uploads.session'],
    async run(bench) {
      const answer = await chunk(bench, 10, `bytes 0-9/${whole}`);
      return heldIf(answer.status === 400 && /262144/.test(answer.text), said(answer));
    },
  },
  {
    id: 'uploads.other-size',
    believes: 'A session refuses with 400 a total that is not the size that it was begun for.',
    source: 'believed',
    needs: ['uploads.session'],
    async run(bench) {
      const answer = await chunk(bench, unit, `bytes 0-${unit - 1}/${whole + 1}`);
      return heldIf(answer.status === 400, said(answer));
    },
  },
  {
    id: 'uploads.multiples',
    believes:
      'Of a chunk that is no multiple of 256 KiB, a session keeps the whole multiples, and tells how far it is.',
    source: 'documented',
    needs: ['uploads.session'],
    async run(bench) {
      const answer = await chunk(bench, unit + 10, `bytes 0-${unit + 9}/${whole}`);
      return heldIf(answer.status === 308 && answer.kept === unit, said(answer));
    },
  },
  {
    id: 'uploads.end',
    believes: 'The last chunk may be of any size, and the answer to it tells the whole object.',
    source: 'documented',
    needs: ['uploads.session'],
    async run(bench) {
      const { kept = 0 } = await chunk(bench, 0, `bytes */${whole}`);
      const answer = await chunk(bench, whole - kept, `bytes ${kept}-${whole - 1}/${whole}`);
      return heldIf([200, 201].includes(answer.status) && answer.size === String(whole), said(answer));
    },
  },
];
