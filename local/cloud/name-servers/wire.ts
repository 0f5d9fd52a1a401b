/** DNS messages on the wire. */
import packet, { type Answer, type DecodedPacket } from 'dns-packet';
import { type Question, type Reply, type Row, rcodes } from './reply.js';

/** What a message asks, and how much its sender takes by UDP. */
export interface Asked {
  readonly message: DecodedPacket;
  readonly question: Question | undefined;
  readonly most: number;
}

const plainLimit = 512;

/** Undefined for bytes that are no question. */
export function read(bytes: Buffer): Asked | undefined {
  let message: DecodedPacket;
  try {
    message = packet.decode(bytes);
  } catch {
    return undefined;
  }
  if (message.type !== 'query') return undefined;
  const [first, ...more] = message.questions ?? [];
  const edns = message.additionals?.find(({ type }) => type === 'OPT');
  const size = edns?.type === 'OPT' ? Number(edns.udpPayloadSize) : plainLimit;
  const question =
    first === undefined || more.length > 0 ? undefined : { name: `${first.name.toLowerCase()}.`, type: first.type };
  return {
    message,
    question: question?.name === '..' ? { ...question, name: '.' } : question,
    most: Math.max(plainLimit, size || plainLimit),
  };
}

/** The reply as bytes. A reply that is too long for UDP is cut, and the client asks again by TCP. */
export function write({ message, most }: Asked, reply: Reply, recurses: boolean, isUdp: boolean): Buffer {
  const encoded = encode(message, reply, recurses, 0);
  if (!isUdp || encoded.length <= most) return encoded;
  return encode(
    message,
    { ...reply, answers: [], authorities: [], additionals: [] },
    recurses,
    packet.TRUNCATED_RESPONSE,
  );
}

function encode(message: DecodedPacket, reply: Reply, recurses: boolean, flags: number): Buffer {
  const asksEdns = message.additionals?.some(({ type }) => type === 'OPT') === true;
  return packet.encode({
    id: message.id ?? 0,
    type: 'response',
    flags:
      flags |
      rcodes[reply.rcode] |
      (reply.isAuthoritative ? packet.AUTHORITATIVE_ANSWER : 0) |
      (recurses ? packet.RECURSION_AVAILABLE : 0) |
      ((message.flags ?? 0) & packet.RECURSION_DESIRED),
    questions: message.questions ?? [],
    answers: reply.answers.map(answerOf),
    authorities: reply.authorities.map(answerOf),
    additionals: [...reply.additionals.map(answerOf), ...(asksEdns ? [edns] : [])],
  });
}

const edns: Answer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1232,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};

const withoutDot = (name: string): string => name.replace(/\.$/, '') || '.';

/** The types that are written. A reply never holds others. */
export const writtenTypes = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'];

function answerOf({ name: full, type, ttl, data }: Row): Answer {
  const name = withoutDot(full);
  const fields = data.trim().split(/\s+/);
  const number = (index: number): number => Number(fields[index]);
  const target = (index: number): string => withoutDot(fields[index] ?? '');
  switch (type) {
    case 'A':
    case 'AAAA':
      return { name, type, ttl, data };
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return { name, type, ttl, data: withoutDot(data) };
    case 'MX':
      return { name, type, ttl, data: { preference: number(0), exchange: target(1) } };
    case 'SRV':
      return { name, type, ttl, data: { priority: number(0), weight: number(1), port: number(2), target: target(3) } };
    case 'CAA': {
      const [value = ''] = textsIn(fields.slice(2).join(' '));
      const tag = (fields[1] ?? 'issue') as 'issue';
      return { name, type, ttl, data: { flags: number(0), issuerCritical: number(0) > 127, tag, value } };
    }
    case 'SOA':
      return {
        name,
        type,
        ttl,
        data: {
          mname: target(0),
          rname: target(1),
          serial: number(2),
          refresh: number(3),
          retry: number(4),
          expire: number(5),
          minimum: number(6),
        },
      };
    default:
      return { name, type: 'TXT', ttl, data: textsIn(data) };
  }
}

/** The strings of `"one" "two"`, or of plain words. */
function textsIn(data: string): string[] {
  const parts = data.match(/"(?:[^"\\]|\\.)*"|[^\s"]+/g) ?? [];
  return parts.map((part) => (part.startsWith('"') ? part.slice(1, -1).replace(/\\(.)/g, '$1') : part));
}
