/**
 * `npm run -s local:dial -- <address> <port>`: connects standard input and output to a simulated VM, for the ProxyCommand of
 * OpenSSH's client.
 */
import { connect } from 'node:net';

const fail = (text: string): void => {
  process.stderr.write(`local:dial: ${text}\n`);
  process.exitCode = 1;
};

function dial(address: string, port: string, proxyUrl: string): void {
  const proxy = new URL(proxyUrl);
  const socket = connect({ host: proxy.hostname, port: Number(proxy.port), noDelay: true });
  let head = Buffer.alloc(0);
  socket.on('error', (error) => {
    fail(`${proxyUrl} does not answer (${error.message}). Is npm run local running, and its env file loaded?`);
    process.stdin.destroy();
  });
  socket.on('connect', () => socket.write(`CONNECT ${address}:${port} HTTP/1.1\r\nHost: ${address}:${port}\r\n\r\n`));
  const opening = (data: Buffer): void => {
    head = Buffer.concat([head, data]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    socket.off('data', opening);
    const status = head.subarray(0, head.indexOf('\r\n')).toString();
    if (!/^HTTP\/1\.\d 200/.test(status)) {
      fail(`${address}:${port} cannot be reached: ${status}`);
      return void socket.destroy();
    }
    process.stdout.write(head.subarray(end + 4));
    socket.pipe(process.stdout);
    process.stdin.pipe(socket);
  };
  socket.on('data', opening);
  socket.on('close', () => process.stdin.destroy());
}

const [address, port = '22', proxyUrl = process.env['PLINTH_SSH_PROXY']] = process.argv.slice(2);
if (address === undefined || proxyUrl === undefined) {
  fail('usage: PLINTH_SSH_PROXY=http://127.0.0.1:<port> npm run -s local:dial -- <address> [port] [proxy]');
} else {
  dial(address, port, proxyUrl);
}
