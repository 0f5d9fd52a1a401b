/** DNS messages on the wire. */
import packet, { type Answer, type DecodedPacket } from 'dns-packet';
import { type Question, type Reply, type Row, rcodes } from './reply.js';

/** What a message asks. */
export interface Asked {
  readonly message: DecodedPacket;
  readonly question: Question | undefined;
}

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
  const isOne = first !== undefined && more.length === 0;
  return { message, question: isOne ? { name: dotted(first.name), type: first.type } : undefined };
}

/** The reply as bytes. On loopback nothing is too long for one datagram. */
export const write = ({ message }: Asked, reply: Reply, recurses: boolean): Buffer =>
  packet.encode({
    id: message.id ?? 0,
    type: 'response',
    flags:
      rcodes[reply.rcode] |
      (reply.isAuthoritative ? packet.AUTHORITATIVE_ANSWER : 0) |
      (recurses ? packet.RECURSION_AVAILABLE : 0) |
      ((message.flags ?? 0) & packet.RECURSION_DESIRED),
    questions: message.questions ?? [],
    answers: reply.answers.map(answerOf),
    authorities: reply.authorities.map(answerOf),
  });

const dotted = (name: string): string => (name === '.' ? name : `${name.toLowerCase()}.`);
const withoutDot = (name: string): string => name.replace(/\.$/, '') || '.';

/** The types that are written: those that plinth asks for, and what a reply about them can hold. */
export const writtenTypes = ['A', 'AAAA', 'CNAME', 'NS', 'SOA'];

function answerOf({ name: full, type, ttl, data }: Row): Answer {
  const name = withoutDot(full);
  if (type === 'A' || type === 'AAAA') return { name, type, ttl, data };
  if (type === 'CNAME' || type === 'NS') return { name, type, ttl, data: withoutDot(data) };
  const [mname = '', rname = '', ...numbers] = data.split(/\s+/);
  const [serial, refresh, retry, expire, minimum] = numbers.map(Number);
  const times = { serial, refresh, retry, expire, minimum };
  return { name, type: 'SOA', ttl, data: { mname: withoutDot(mname), rname: withoutDot(rname), ...times } };
}
