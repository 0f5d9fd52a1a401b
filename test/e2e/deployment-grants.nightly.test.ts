/** A deployment that lacks a grant: each role of each function, on each resource. */
import { describeLackOf } from './deployment-grants.js';

describeLackOf(() => true);
