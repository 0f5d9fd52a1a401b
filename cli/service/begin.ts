/** The request that begins or resumes a bootstrap. Where its answer is lost, it is made again, and nothing begins twice. */
import { BootstrapSummary, BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { CallerView } from '../../shared/bootstrap/caller.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import { BeginReply, bootstrapRoutes, callerRoutes } from '../../shared/bootstrap/routes.js';
import { Problem } from '../../shared/problems.js';
import { isLost } from './answer-problem.js';
import type { ServiceTransport } from './transport.js';

/** `stood`: the bootstrap was there before. Gives up after half a minute without an answer. */
export function begin(transport: ServiceTransport, body: BootstrapRequest, stood: boolean): Promise<BeginReply> {
  let mayHaveBegun = false;
  const once = async (): Promise<BeginReply> => {
    const begun = mayHaveBegun ? await findBegun(transport, body) : undefined;
    if (begun !== undefined) return begun;
    try {
      return (await transport.ask(BeginReply, bootstrapRoutes.beginBootstrap, { body })).data;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (mayHaveBegun && error.code === 'precondition-failed') {
        // The lost request came after all, and the plan does not fit what it has begun.
        const late = await findBegun(transport, body);
        if (late !== undefined) return late;
      }
      mayHaveBegun ||= !stood && isLost(error);
      throw error;
    }
  };
  // The plan of a resume fits what stood. It no longer fits once a lost request has gone on with it.
  return stood && body.plan !== undefined ? once() : transport.untilAnswered(once);
}

/** What the lost request has begun. Undefined: nothing, or the name is of another bootstrap, which the service refuses. */
async function findBegun(
  { ask }: ServiceTransport,
  { options, takeUp }: BootstrapRequest,
): Promise<BeginReply | undefined> {
  const query = { name: options.projectName ?? '' };
  const [{ data: found }, { data: caller }] = await Promise.all([
    ask(BootstrapSummary.array(), bootstrapRoutes.listBootstraps, { query }),
    ask(CallerView, callerRoutes.getCaller),
  ]);
  const isIt = ({ id, name, owner, state, removal }: BootstrapSummary): boolean =>
    name === options.projectName &&
    owner === caller.email &&
    state !== 'removed' &&
    removal === undefined &&
    (takeUp === undefined || takeUp === id);
  const id = found.find(isIt)?.id;
  if (id === undefined) return undefined;
  const { data: bootstrap } = await ask(BootstrapView, bootstrapRoutes.getBootstrap, { params: { id } });
  return { bootstrap, created: takeUp === undefined, changes: [], warnings: bootstrap.warnings };
}
