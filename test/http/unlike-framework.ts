/** All functions, in a framework whose servers do not look as they did: their listener is no Express application. */
import { Server } from 'node:http';
import { deployables } from '../../functions/index.js';
import { serve } from '../../functions/serve.js';

const { listeners } = Server.prototype;
Server.prototype.listeners = function (this: Server, event: string | symbol) {
  // An application has a `bind` of its own, for the method of WebDAV.
  return listeners.call(this, event).map(
    (each) =>
      (...given: unknown[]) =>
        Reflect.apply(each, this, given),
  );
};
serve(Object.values(deployables));
