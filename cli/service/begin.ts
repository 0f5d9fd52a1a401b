/** The request that begins or resumes a bootstrap. Where its answer is lost, it is made again, and nothing begins twice. */
import { BootstrapSummary, BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import { BeginReply, bootstrapRoutes } from '../../shared/bootstrap/routes.js';
import { Problem } from '../../shared/problems.js';
import { isLost } from './answer-problem.js';
import type { Transport } from './transport.js';

/** `stood`: the bootstrap was there before. Gives up after half a minute without an answer. */
export function begin(transport: Transport, body: BootstrapRequest, stood: boolean): Promise<BeginReply> {
  let mayHaveBegun = false;
  const once = async (): Promise<BeginReply> => {
    const begun = mayHaveBegun ? await findBegun(transport, body) : undefined;
    if (begun !== undefined) return begun;
    try {
      return (await transport.ask(BeginReply, bootstrapRoutes.beginBootstrap, { body })).data;
    } catch (error) {
      mayHaveBegun ||= !stood && error instanceof Problem && isLost(error);
      throw error;
    }
  };
  // The plan of a resume fits what stood. It no longer fits once a lost request has gone on with it.
  return stood && body.plan !== undefined ? once() : transport.untilAnswered(once);
}

/** What the lost request has begun. */
async function findBegun({ ask }: Transport, { options, takeUp }: BootstrapRequest): Promise<BeginReply | undefined> {
  const query = { name: options.projectName ?? '' };
  const { data: found } = await ask(BootstrapSummary.array(), bootstrapRoutes.listBootstraps, { query });
  const id = found.find(({ state }) => state !== 'removed')?.id;
  if (id === undefined) return undefined;
  const { data: bootstrap } = await ask(BootstrapView, bootstrapRoutes.getBootstrap, { params: { id } });
  return { bootstrap, created: takeUp === undefined, changes: [], warnings: bootstrap.warnings };
}
