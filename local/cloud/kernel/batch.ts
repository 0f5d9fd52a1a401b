/** Google's batch form, which gcloud uses: many HTTP calls as parts of one multipart body, with a multipart answer. */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from './api.js';

export interface BatchPart {
  readonly id: string | undefined;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface BatchReply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const malformed = (message: string): BatchReply => ({
  status: 400,
  type: 'application/json',
  body: JSON.stringify({
    error: { code: 400, message, errors: [{ message, domain: 'global', reason: 'badRequest' }] },
  }),
});

export async function answerBatch(
  body: string,
  headers: IncomingHttpHeaders,
  answer: (part: BatchPart) => Promise<{ status: number; body: JsonObject }>,
): Promise<BatchReply> {
  const boundary = /boundary="?([^";]+)"?/i.exec(headers['content-type'] ?? '')?.[1];
  if (boundary === undefined)
    return malformed('Failed to parse batch request, error: no boundary in the content type.');
  const parts = partsOf(body, boundary);
  if (parts.length === 0) return malformed('Failed to parse batch request, error: 0 items.');
  if (parts.length > 1000) return malformed('The batch request contains more than 1000 calls.');
  const mark = `batch_${boundary.replaceAll(/\W/g, '').slice(0, 40)}`;
  const replies = await Promise.all(parts.map((part) => answer(part)));
  const text = replies
    .map(({ status, body: reply }, i) => {
      const id = parts[i]?.id?.replace(/^</, '<response-');
      const json = JSON.stringify(reply);
      return [
        `--${mark}`,
        'Content-Type: application/http',
        ...(id === undefined ? [] : [`Content-ID: ${id}`]),
        '',
        `HTTP/1.1 ${status} ${status < 300 ? 'OK' : 'Error'}`,
        'Content-Type: application/json; charset=UTF-8',
        `Content-Length: ${Buffer.byteLength(json)}`,
        '',
        json,
      ].join('\r\n');
    })
    .join('\r\n');
  return { status: 200, type: `multipart/mixed; boundary=${mark}`, body: `${text}\r\n--${mark}--\r\n` };
}

function partsOf(body: string, boundary: string): BatchPart[] {
  return body
    .replaceAll('\r\n', '\n')
    .split(`--${boundary}`)
    .slice(1)
    .filter((part) => !part.startsWith('--'))
    .flatMap((part) => {
      const [outer, inner] = cut(part.replace(/^\n/, ''));
      const [head, content] = cut(inner);
      const [line = '', ...innerHeaders] = head.split('\n');
      const [method, url] = line.split(' ');
      if (method === undefined || url === undefined) return [];
      return [
        {
          id: headersOf(outer.split('\n'))['content-id'],
          method,
          url,
          headers: headersOf(innerHeaders),
          body: content.trim(),
        },
      ];
    });
}

function cut(text: string): [string, string] {
  const at = text.indexOf('\n\n');
  return at === -1 ? [text.trim(), ''] : [text.slice(0, at), text.slice(at + 2)];
}

const headersOf = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    lines.flatMap((line) => {
      const at = line.indexOf(':');
      return at === -1 ? [] : [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()]];
    }),
  );
