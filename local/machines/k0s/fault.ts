/** Refusals of the API server, as Kubernetes' Status. */

export interface Fault {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
}

/** An Error, so that it carries a stack when it is unexpected. */
export const fault = (code: number, reason: string, message: string): Error & Fault =>
  Object.assign(new Error(message), { code, reason });

export const isFault = (error: unknown): error is Error & Fault =>
  error instanceof Error && typeof (error as Partial<Fault>).code === 'number';

export const statusOf = ({ code, reason, message }: Fault) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
});
