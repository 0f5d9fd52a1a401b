/** The secret values that an invocation has met, so that nothing it says holds one of them. */
import { createHide } from '../../host/hide.js';

export interface HeardSecrets {
  readonly hear: (value: string) => void;
  /** All that were heard so far. */
  readonly all: () => readonly string[];
  /** Takes them out of a text. */
  readonly hide: (text: string) => string;
}

export function createHeardSecrets(): HeardSecrets {
  const secrets = new Set<string>();
  return {
    hear(value) {
      secrets.add(value);
      // Of a key in PEM any one line tells too much.
      for (const line of value.split('\n')) if (line.length >= 24 && !line.startsWith('-----')) secrets.add(line);
    },
    all: () => [...secrets],
    hide: (text) => createHide([...secrets])(text),
  };
}
