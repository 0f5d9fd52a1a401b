/** Reads a bootstrap's record that an earlier or a later release may have written. */
import { type BootstrapRecord, liftBootstrap, read } from '../engine/record/documents.js';
import type { Document } from '../store/store.js';

/** Undefined: this release cannot read the record. */
export function readable(document: Document): BootstrapRecord | undefined {
  try {
    return read(document, liftBootstrap)?.data;
  } catch {
    return undefined;
  }
}
