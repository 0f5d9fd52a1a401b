/** What a registry that a test started says of the requests it got. */
import type { ChildProcess } from 'node:child_process';

export interface AccessLog {
  /** All of it so far. */
  text(): string;
  /** Comes once the words are there. Throws, with all of it, when the program ends first. */
  saying(words: string): Promise<void>;
  /** Requests so far that wrote something, such as `PUT /v2/a/manifests/1`. */
  writes(): Promise<readonly string[]>;
}

/** `get` asks the program for a path. The log comes through a pipe and may be behind: it is read to where it tells of that. */
export function accessLogOf(child: ChildProcess, get: (path: string) => Promise<unknown>): AccessLog {
  let said = '';
  let marks = 0;
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (said += data.toString()));
  const saying = async (words: string): Promise<void> => {
    while (!said.includes(words)) {
      if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return {
    text: () => said,
    saying,
    async writes() {
      const mark = `/v2/mark-${++marks}/tags/list`;
      await get(mark);
      await saying(`"GET ${mark} `);
      return [...said.matchAll(/"((?:PUT|POST|PATCH|DELETE) \S+) HTTP/g)].map(([, request = '']) => request);
    },
  };
}
