/** How the cloud lane handles a message of a preflight: it answers what only its own identity can ask. */
import { preflightInstance, StepMessage } from '../../shared/bootstrap/message.js';
import type { Context } from '../context.js';
import { answer } from '../preflight/answer.js';
import type { MessagePublished } from './run-step.js';

/** False: it is another message. Never throws: whoever asked goes on without the answer. */
export async function answerPreflight(context: Context, event: MessagePublished): Promise<boolean> {
  const id = preflightIn(event.data?.message?.data);
  if (id === undefined) return false;
  try {
    await answer(context, id);
  } catch (error) {
    context.log('WARNING', 'A preflight was not answered', { preflight: id, error });
  }
  return true;
}

function preflightIn(data: string | undefined): string | undefined {
  try {
    const message = StepMessage.parse(JSON.parse(Buffer.from(data ?? '', 'base64').toString('utf8')));
    return message.instance === preflightInstance ? message.bootstrapId : undefined;
  } catch {
    return undefined;
  }
}
