/**
 * The frames and close codes of IAP's relay protocol, version 4. The tags are those of gcloud's client. The codes are those of
 * IAP Desktop, Google's client for Windows (`SshRelayCloseCode`, read on 2026-11-24).
 */

export const subprotocol = 'relay.tunnel.cloudproxy.app';
export const origin = 'bot:iap-tunneler';
export const largestData = 16_384;

const tags = { connected: 0x0001, reconnected: 0x0002, data: 0x0004, acknowledgement: 0x0007 } as const;

/** A close code and its reason. */
export type Closing = readonly [code: number, reason: string];

/**
 * The reasons of 4003 and 4047 stand in output of gcloud that people quote. The others are the names of the codes in small
 * letters, and unproven.
 */
export const closings = {
  normal: [1000, ''],
  sidUnknown: [4001, 'sid unknown'],
  sidInUse: [4002, 'sid in use'],
  noBackend: [4003, 'failed to connect to backend'],
  reauthenticate: [4004, 'reauthentication required'],
  badAck: [4005, 'bad ack'],
  invalidAck: [4006, 'invalid ack'],
  invalidOpcode: [4007, 'invalid websocket opcode'],
  invalidTag: [4008, 'invalid tag'],
  writeFailed: [4009, 'destination write failed'],
  readFailed: [4010, 'destination read failed'],
  invalidData: [4013, 'invalid data'],
  notAuthorized: [4033, 'not authorized'],
  lookupFailed: [4047, 'Failed to lookup instance'],
} as const satisfies Record<string, Closing>;

export type Frame =
  | { readonly kind: 'data'; readonly bytes: Buffer }
  | { readonly kind: 'acknowledgement'; readonly total: number }
  | { readonly kind: 'fault'; readonly closing: Closing };

/** Reads what a client may send. */
export function readFrame(message: Buffer): Frame {
  const tag = message.length < 2 ? undefined : message.readUInt16BE(0);
  if (tag === tags.data) {
    const length = message.length < 6 ? Number.NaN : message.readUInt32BE(2);
    const isWhole = length > 0 && length <= largestData && message.length === 6 + length;
    return isWhole ? { kind: 'data', bytes: message.subarray(6) } : { kind: 'fault', closing: closings.invalidData };
  }
  if (tag === tags.acknowledgement) {
    return message.length === 10
      ? { kind: 'acknowledgement', total: Number(message.readBigUInt64BE(2)) }
      : { kind: 'fault', closing: closings.invalidAck };
  }
  return { kind: 'fault', closing: closings.invalidTag };
}

function withLength(tag: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt16BE(tag, 0);
  head.writeUInt32BE(bytes.length, 2);
  return Buffer.concat([head, bytes]);
}

function withTotal(tag: number, total: number): Buffer {
  const frame = Buffer.alloc(10);
  frame.writeUInt16BE(tag, 0);
  frame.writeBigUInt64BE(BigInt(total), 2);
  return frame;
}

export const connectedFrame = (sid: string): Buffer => withLength(tags.connected, Buffer.from(sid));
export const reconnectedFrame = (total: number): Buffer => withTotal(tags.reconnected, total);
export const dataFrame = (bytes: Buffer): Buffer => withLength(tags.data, bytes);
export const acknowledgementFrame = (total: number): Buffer => withTotal(tags.acknowledgement, total);
