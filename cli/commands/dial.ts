/**
 * `plinth beta dial`: connects standard input and output to an address, so that ssh's ProxyCommand needs no netcat. The ssh
 * config that plinth writes uses it.
 */
import { once } from 'node:events';
import { Problem } from '../../shared/problems.js';
import { defineCommand } from '../frame/command.js';
import { refusal } from '../frame/required.js';

export const dial = defineCommand({
  words: 'beta dial',
  takes: ['address', 'port'],
  summary: 'Lead standard input and output to an address, for the ProxyCommand of ssh',
  description: [
    'Connects to an address, through the HTTP CONNECT proxy that PLINTH_SSH_PROXY names if it is set, and passes standard input and output on. For ssh -o ProxyCommand="plinth beta dial %h %p".',
  ],
  examples: ['ssh -o ProxyCommand="plinth beta dial %h %p" ubuntu@203.0.113.7'],

  async run(call) {
    const address = call.word('address')?.text ?? '';
    const port = Number(call.word('port')?.text);
    const faults = [...call.faults];
    if (call.word('port') !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
      faults.push({ path: '<port>', message: 'must be a number from 1 to 65535' });
    }
    if (faults.length > 0) throw refusal(faults);
    const { dial } = await import('../../functions/remote/dial.js');
    const socket = await dial(address, port, { name: address, proxy: call.settings.sshProxy, timeoutSeconds: 15 });
    call.interrupted.addEventListener('abort', () => socket.destroy(), { once: true });
    const { stdin, stdout } = call.io;
    let broken: Error | undefined;
    socket.on('error', (error) => {
      broken = error;
    });
    // ssh may exit first.
    stdout.on('error', () => socket.destroy());
    stdin.pipe(socket);
    socket.pipe(stdout);
    await once(socket, 'close');
    stdin.destroy();
    if (broken === undefined) return { data: {} };
    throw new Problem('host-unreachable', `The connection to ${address}, port ${port}, was lost: ${broken.message}.`);
  },
});
