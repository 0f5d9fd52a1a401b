/** CRC-32C (Castagnoli), the checksum of Secret Manager's payloads and Cloud Storage's objects. */
const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

/** Goes on from the checksum of the bytes before these. */
export function crc32c(bytes: Uint8Array, before = 0): number {
  let crc = ~before;
  for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] ?? 0)) & 255] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}
