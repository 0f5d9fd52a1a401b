/** How one invocation ended. */

/**
 * `ignored`: the message was late, double or of another generation. `busy`: somebody else holds the lease. `lost`: somebody
 * else took over.
 */
export type RunResult =
  | 'ignored'
  | 'busy'
  | 'done'
  | 'gone'
  | 'failed'
  | 'cancelled'
  | 'client'
  | 'waiting'
  | 'handed-over'
  | 'lost';
