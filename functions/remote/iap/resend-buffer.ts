/** What was sent and not acknowledged yet. It is sent again after a lost connection. */

export interface ResendBuffer {
  /** Bytes in it. */
  readonly size: number;
  /** Takes the bytes over: nobody may change them afterwards. */
  add(bytes: Buffer): void;
  /** `total` counts from the first byte ever added. False if that many were never sent, or it was more before. */
  acknowledge(total: number): boolean;
  /** In order. */
  parts(): readonly Buffer[];
}

export function createResendBuffer(): ResendBuffer {
  let kept: Buffer[] = [];
  let acknowledged = 0;
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(bytes) {
      kept.push(bytes);
      size += bytes.length;
    },
    acknowledge(total) {
      let left = total - acknowledged;
      if (left < 0 || left > size) return false;
      acknowledged = total;
      size -= left;
      let whole = 0;
      for (const part of kept) {
        if (part.length > left) break;
        left -= part.length;
        whole += 1;
      }
      kept = kept.slice(whole);
      const [first] = kept;
      if (left > 0 && first !== undefined) kept[0] = first.subarray(left);
      return true;
    },
    parts: () => kept,
  };
}
