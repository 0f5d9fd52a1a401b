/** What a new bootstrap is about to cost, how long it takes and when it goes: shown before its first step has done anything. */
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { beginningCostText } from '../cost.js';
import { table, time } from '../frame/table.js';
import { forecastText } from './forecast-text.js';

export function priceLines({ instances, cost, forecast, deadlineAt }: BootstrapView): string[] {
  const vms = instances.filter(({ step }) => step === 'vm').length;
  return table([
    ...(vms === 0 ? [] : [['VMs', String(vms)]]),
    ['Cost', beginningCostText(cost)],
    ...(forecast === undefined ? [] : [['Ready', `in ${forecastText(forecast)}`]]),
    ['Removed', `at ${time(deadlineAt)}`],
  ]);
}
