/** The secret values that an invocation has met, so that none of them appears in what it writes. */
import { createHide } from '../../host/hide.js';

export interface HeardSecrets {
  readonly hear: (value: string) => void;
  /** All that were heard so far. */
  readonly all: () => readonly string[];
  /** Redacts them in a text. */
  readonly hide: (text: string) => string;
}

export function createHeardSecrets(): HeardSecrets {
  const secrets = new Set<string>();
  return {
    hear(value) {
      secrets.add(value);
      // Any single line of a PEM key already tells too much.
      for (const line of value.split('\n')) if (line.length >= 24 && !line.startsWith('-----')) secrets.add(line);
    },
    all: () => [...secrets],
    hide: (text) => createHide([...secrets])(text),
  };
}
