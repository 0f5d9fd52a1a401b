/** `plinth beta bootstraps status|stop|start`: whether new bootstraps are taken. For operators. */
import type { AdmissionView } from '../../shared/bootstrap/admission.js';
import { defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { required } from '../frame/required.js';
import { time } from '../frame/table.js';

function shown(admission: AdmissionView) {
  const { state, by, at, reason } = admission;
  const text = [
    `New bootstraps  ${state === 'open' ? 'open' : 'stopped: they are refused, what stands goes on'}`,
    ...(reason === undefined ? [] : [`Reason          ${printable(reason)}`]),
    ...(by === undefined || at === undefined ? [] : [`Since           ${time(at)}, by ${printable(by)}`]),
  ].join('\n');
  return { data: { admission }, show: () => text };
}

export const admissionStatus = defineCommand({
  description: ['Shows whether new bootstraps are taken or stopped, and who switched that last, when and why.'],
  examples: ['plinth beta bootstraps status'],

  async run(call) {
    const client = await call.connect();
    return shown(await client.admission());
  },
});

export const admissionStop = defineCommand({
  description: [
    'From its answer on no new bootstrap begins, whoever asks. They see the reason. Present bootstraps can still be resumed, extended and removed.',
  ],
  flags: { reason: 'Why. Everybody who is refused sees it. (required)' },
  examples: ['plinth beta bootstraps stop --reason "the billing account is closed on Friday"'],

  async run(call) {
    const { reason } = required(call, 'reason');
    const client = await call.connect();
    return shown(await client.stopNewBootstraps(reason));
  },
});

export const admissionStart = defineCommand({
  description: ['Takes new bootstraps again. If they are already taken, nothing changes.'],
  examples: ['plinth beta bootstraps start'],

  async run(call) {
    const client = await call.connect();
    return shown(await client.startNewBootstraps());
  },
});
