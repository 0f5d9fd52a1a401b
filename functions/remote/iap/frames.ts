/** The frames of IAP's relay protocol, version 4: a 16-bit tag, then what it says. Numbers are big-endian. */

export const subprotocol = 'relay.tunnel.cloudproxy.app';
/** What IAP takes from programs. Browsers can't send it. */
export const origin = 'bot:iap-tunneler';
/** Bytes that one frame of data may hold. */
export const largestData = 16_384;

const tags = { connected: 0x0001, reconnected: 0x0002, data: 0x0004, acknowledgement: 0x0007 } as const;

export type ServerFrame =
  | { readonly kind: 'connected'; readonly sid: string }
  /** `total` counts the bytes of ours that arrived since the tunnel began. */
  | { readonly kind: 'reconnected'; readonly total: number }
  | { readonly kind: 'acknowledgement'; readonly total: number }
  | { readonly kind: 'data'; readonly bytes: Buffer }
  /** Google may add tags. Its own client ignores those that it doesn't know. */
  | { readonly kind: 'unknown' };

/** Undefined if the frame is shorter than it says. Bytes behind it are ignored. */
export function readFrame(message: Buffer): ServerFrame | undefined {
  if (message.length < 2) return undefined;
  switch (message.readUInt16BE(0)) {
    case tags.data: {
      const bytes = sized(message);
      return bytes && { kind: 'data', bytes };
    }
    case tags.connected: {
      const sid = sized(message);
      return sid && { kind: 'connected', sid: sid.toString() };
    }
    case tags.acknowledgement:
      return message.length < 10 ? undefined : { kind: 'acknowledgement', total: totalIn(message) };
    case tags.reconnected:
      return message.length < 10 ? undefined : { kind: 'reconnected', total: totalIn(message) };
    default:
      return { kind: 'unknown' };
  }
}

function sized(message: Buffer): Buffer | undefined {
  if (message.length < 6) return undefined;
  const end = 6 + message.readUInt32BE(2);
  return end > message.length ? undefined : message.subarray(6, end);
}

const totalIn = (message: Buffer): number => Number(message.readBigUInt64BE(2));

export function dataFrame(bytes: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(6 + bytes.length);
  frame.writeUInt16BE(tags.data, 0);
  frame.writeUInt32BE(bytes.length, 2);
  bytes.copy(frame, 6);
  return frame;
}

export function acknowledgementFrame(total: number): Buffer {
  const frame = Buffer.allocUnsafe(10);
  frame.writeUInt16BE(tags.acknowledgement, 0);
  frame.writeBigUInt64BE(BigInt(total), 2);
  return frame;
}
