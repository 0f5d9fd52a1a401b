/** Publishes step messages. The one importer of @google-cloud/pubsub. */
import type { StepMessage } from '../shared/bootstrap/message.js';
import type { Lane } from '../shared/names.js';

export interface Publisher {
  /** Resolves once Pub/Sub has taken them all. `attributes.traceparent` carries the trace. */
  publish(lane: Lane, messages: readonly StepMessage[]): Promise<void>;
  close(): Promise<void>;
}
