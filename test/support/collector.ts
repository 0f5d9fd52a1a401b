/** Takes spans as OTLP over HTTP, as a collector does, and keeps them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** Each body and the headers it came with, as they came. */
  readonly received: string[];
  /** From here on: takes them, refuses them, or says nothing at all. */
  answer(how: 'well' | 'badly' | 'never'): void;
  close(): Promise<void>;
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'service' | 'attributes' | 'links'> & {
        readonly attributes: readonly KeyValue[];
        readonly links?: CollectedSpan['links'];
      })[];
    }[];
  }[];
}

/** Each value stands beneath the name of its type. */
const valuesOf = (attributes: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const received: string[] = [];
  let how: 'well' | 'badly' | 'never' = 'well';
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    received.push(`${JSON.stringify(request.headers)}\n${text}`);
    if (how === 'never') return;
    if (how === 'badly') return response.writeHead(503).end();
    for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans) {
      const service = String(valuesOf(resource.attributes)['service.name']);
      for (const span of scopeSpans.flatMap((each) => each.spans)) {
        spans.push({ ...span, service, links: span.links ?? [], attributes: valuesOf(span.attributes) });
      }
    }
    return response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    received,
    answer: (next) => {
      how = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The traces that lines of the functions' logs belong to. */
export const traceIdsIn = (lines: readonly string[]): Set<string> =>
  new Set(lines.flatMap((line) => /traces\/([0-9a-f]{32})/.exec(line)?.[1] ?? []));
