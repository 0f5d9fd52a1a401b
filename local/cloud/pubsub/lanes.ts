/** Queues messages in one lane per subscription. Decides when each has its turn, and how many are under way at once. */

export interface LanesOptions {
  /** How many messages of one lane may be under way. */
  readonly concurrency: number;
  /** Milliseconds until a message is due. Undefined if it must not be delivered. */
  readonly delayOf: (path: string, id: string) => number | undefined;
  /** Index of the message that goes next. */
  readonly pick: (inLine: number) => number;
  readonly deliver: (path: string, id: string) => Promise<void>;
  readonly onEnded: () => void;
}

export interface Lanes {
  /** Queues a message, now or when it is due. */
  queue(path: string, id: string): void;
  /** Cancels a message's wait. Returns false if it is already queued or under way. */
  unwait(path: string, id: string): boolean;
  isIdle(): boolean;
  /** Begins no more messages. Resolves when those under way have ended. */
  close(): Promise<void>;
}

interface Lane {
  readonly ready: string[];
  readonly underWay: Set<string>;
  readonly waiting: Map<string, NodeJS.Timeout>;
}

export function createLanes({ concurrency, delayOf, pick, deliver, onEnded }: LanesOptions): Lanes {
  const lanes = new Map<string, Lane>();
  const running = new Set<Promise<void>>();
  let closed = false;

  function laneOf(path: string): Lane {
    const lane = lanes.get(path) ?? { ready: [], underWay: new Set(), waiting: new Map() };
    lanes.set(path, lane);
    return lane;
  }

  function queue(path: string, id: string): void {
    const delay = closed ? undefined : delayOf(path, id);
    if (delay === undefined) return;
    const lane = laneOf(path);
    const line = (): void => {
      lane.waiting.delete(id);
      lane.ready.push(id);
      pump(path);
    };
    if (delay <= 0) line();
    else lane.waiting.set(id, setTimeout(line, delay));
  }

  function pump(path: string): void {
    const lane = laneOf(path);
    while (!closed && lane.ready.length > 0 && lane.underWay.size < concurrency) {
      const [id] = lane.ready.splice(pick(lane.ready.length), 1);
      if (id === undefined || lane.underWay.has(id)) continue;
      lane.underWay.add(id);
      const delivery = deliver(path, id).finally(() => {
        lane.underWay.delete(id);
        running.delete(delivery);
        queue(path, id);
        pump(path);
        onEnded();
      });
      running.add(delivery);
    }
  }

  return {
    queue,
    unwait(path, id) {
      const { ready, underWay, waiting } = laneOf(path);
      if (ready.includes(id) || underWay.has(id)) return false;
      clearTimeout(waiting.get(id));
      waiting.delete(id);
      return true;
    },
    isIdle: () => running.size === 0 && [...lanes.values()].every(({ ready }) => ready.length === 0),
    async close() {
      closed = true;
      for (const { waiting } of lanes.values()) for (const timer of waiting.values()) clearTimeout(timer);
      await Promise.all(running);
    },
  };
}
