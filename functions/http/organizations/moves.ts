/** Handles the routes of transfers, and of the undo of a migration. */
import { organizationRoutes as routes } from '../../../shared/organization/routes.js';
import type { Context } from '../../context.js';
import {
  acceptTransfer,
  listTransfers,
  type Proposed,
  proposeTransfer,
  refuseTransfer,
} from '../../organizations/transfers.js';
import { previewUndo, undoMigration } from '../../organizations/undo.js';
import type { KeepingHandlers } from '../idempotency.js';
import type { AnswerInPages } from '../paging.js';
import type { Answer } from '../reply.js';
import { okAnswer } from './teams.js';

type MoveRoutes = Pick<
  typeof routes,
  'proposeTransfer' | 'listTransfers' | 'acceptTransfer' | 'refuseTransfer' | 'previewUndo' | 'undoMigration'
>;

const proposedAnswer = (result: Proposed): Answer =>
  'moved' in result ? okAnswer(result.moved) : { status: 201, body: result.pending };

export const moveHandlers = (context: Context, answerInPages: AnswerInPages): KeepingHandlers<MoveRoutes> => ({
  proposeTransfer: async ({ caller, params: { teamId }, body }, keep) =>
    proposedAnswer(
      await proposeTransfer(context, caller, { teamId, ...body }, (result) => keep(proposedAnswer(result))),
    ),

  listTransfers: (call) =>
    answerInPages(routes.listTransfers, call, (page) => listTransfers(context, call.caller, call.params.teamId, page)),

  acceptTransfer: async ({ caller, params }, keep) =>
    okAnswer(await acceptTransfer(context, caller, params, (reply) => keep(okAnswer(reply)))),

  async refuseTransfer({ caller, params }) {
    await refuseTransfer(context, caller, params);
    return { status: 204 };
  },

  async previewUndo({ caller, params }) {
    const { preview, tag } = await previewUndo(context, caller, params);
    return { status: 200, headers: { etag: tag }, body: preview };
  },

  undoMigration: async ({ caller, params, headers }, keep) =>
    okAnswer(
      await undoMigration(context, caller, { ...params, ifMatch: headers['if-match'] }, (reply) =>
        keep(okAnswer(reply)),
      ),
    ),
});
