/** How the API server says no: Kubernetes' Status. */

export interface Fault {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
}

/** Thrown as an Error, so that it has a stack where it is not expected. */
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
