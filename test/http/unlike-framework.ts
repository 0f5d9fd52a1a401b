/** All functions, in a framework whose servers do not look as they did: their listener is no Express application. */
import { Server } from 'node:http';
import { deployables } from '../../functions/index.js';
import { serve } from '../../functions/serve.js';

const { listeners } = Server.prototype;
Server.prototype.listeners = function (this: Server, event: string | symbol) {
  return listeners.call(this, event).map((each) => each.bind(this) as typeof each);
};
serve(Object.values(deployables));
