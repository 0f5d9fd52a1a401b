/** What is wrong with a time to live or an amount of money, as far as it shows without the service. */
import { addSeconds } from '../shared/add-seconds.js';
import { parseDuration } from '../shared/bootstrap/duration.js';
import { endFault } from '../shared/bootstrap/lifetime.js';
import { AmountText } from '../shared/bootstrap/money.js';
import type { Fault } from '../shared/problems.js';
import type { Call } from './frame/command.js';

export function amountFaults(call: Call): Fault[] {
  const read = AmountText.safeParse(call.word('max-cost')?.text ?? '1');
  return read.success ? [] : read.error.issues.map(({ message }) => ({ path: '--max-cost', message }));
}

/** As if it began now. The service counts from when it really began. */
export function ttlFaults({ given: { projectTtl = '' } }: Call): Fault[] {
  const now = new Date();
  const message = endFault(now.toISOString(), addSeconds(now, parseDuration(projectTtl) ?? 0));
  return message === undefined ? [] : [{ path: '--project-ttl', message }];
}
