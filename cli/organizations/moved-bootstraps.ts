/** The bootstraps that move with a team, and who gains and loses access to each, as the previews of both ways show them. */
import type { MovedBootstrap } from '../../shared/organization/team.js';
import { printable, type Style } from '../frame/output.js';

export function bootstrapLines(
  bootstraps: readonly MovedBootstrap[],
  inAll = bootstraps.length,
  style: Style,
): string[] {
  if (inAll === 0) return [];
  const rest = inAll - bootstraps.length;
  return [
    style.bold(`Bootstraps that move: ${inAll}`),
    ...bootstraps.flatMap(({ name, projectId, shared, costAnHour, gains, loses }) => [
      `  ${printable(name)} (${printable(projectId)})${shared ? ', shared' : ''}${costAnHour === undefined ? '' : `, ${Number(costAnHour).toFixed(2)} USD an hour`}`,
      ...(gains.length === 0 ? [] : [`    gain: ${gains.map(printable).join(', ')}`]),
      ...(loses.length === 0 ? [] : [`    lose: ${loses.map(printable).join(', ')}`]),
    ]),
    ...(rest > 0 ? [style.dim(`  and ${rest} more`)] : []),
  ];
}
