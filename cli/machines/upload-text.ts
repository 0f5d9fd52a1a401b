/** Shows an upload to people: as a row of the display, or as lines in a pipe. */
import { formatSeconds } from '../../shared/bootstrap/duration.js';
import { printable } from '../frame/output.js';
import type { UploadStep } from './uploader.js';

export const uploadTitle = ({ file }: Pick<UploadStep, 'file'>): string => `Upload of ${file.name}`;

/** The row's note: `[█████░░░░░]  13.5 of 27.0 MB, 8.1 MB/s`. Undefined once the upload has ended. */
export function uploadRow(step: UploadStep): string | undefined {
  if (step.state === 'trying again') return step.why;
  if (step.state !== 'sending') return undefined;
  const width = 20;
  const filled = step.of === 0 ? width : Math.floor((step.bytes / step.of) * width);
  const rate = step.seconds < 1 ? '' : `, ${megabytes(step.bytes / step.seconds)} MB/s`;
  return `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${amount(step)}${rate}`;
}

/** An end is a line both in a pipe and on a terminal. */
export function uploadEnd(step: UploadStep): string | undefined {
  const title = printable(uploadTitle(step));
  if (step.state === 'there') return `✓ ${title}  it is there already`;
  if (step.state !== 'sent') return undefined;
  return `✓ ${title}  ${megabytes(step.of)} MB in ${formatSeconds(Math.max(1, Math.round(step.seconds)))}`;
}

/** In a pipe, progress is a line too. */
export const uploadLine = (step: UploadStep): string =>
  step.state === 'trying again'
    ? `↻ ${printable(uploadTitle(step))}: tries again: ${printable(step.why ?? '')}`
    : `… ${printable(uploadTitle(step))}: ${amount(step)}`;

/** `13.5 of 27.0 MB` */
export const amount = ({ bytes, of }: Pick<UploadStep, 'bytes' | 'of'>): string =>
  `${megabytes(bytes)} of ${megabytes(of)} MB`;
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
