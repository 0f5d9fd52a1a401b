/** A world of real hosts with a program that runs on one of them, until this process is killed. Started by real-hosts.slow.test.ts. */
import { realHosts } from '../real-hosts/index.js';
import { makeMachineWorld } from './machine-world.js';

const [seconds = ''] = process.argv.slice(2);
const world = await makeMachineWorld(['node-1'], realHosts);
await world.ssh('root@node-1', `systemd-run --quiet sleep ${seconds}`);
process.stdout.write('up\n');
setInterval(() => undefined, 1000);
