/** What tests of shell scripts share: running one, commands that stand in for real ones, and a server for them to ask. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export const run = (
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { cwd, input }: { readonly cwd?: string; readonly input?: string } = {},
) =>
  new Promise<{ exitCode: number; output: string }>((resolve) => {
    const child = execFile(file, args, { env: { ...process.env, ...env }, cwd }, (error, stdout, stderr) =>
      resolve({
        exitCode: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1,
        output: stdout + stderr,
      }),
    );
    child.stdin?.end(input);
  });

/** For the front of a PATH. */
export const putCommand = (folder: string, name: string, script: string): void =>
  writeFileSync(join(folder, name), script, { mode: 0o755 });

export type Asked = Pick<IncomingMessage, 'url' | 'headers'>;

/** A server that answers as it is told, and remembers what it was asked. */
export async function answering(answer: (request: Asked) => { readonly status: number; readonly body?: string }) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    const { status, body } = answer(request);
    response.writeHead(status).end(body);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close: () => server.close() };
}
