/** A deployment that lacks a grant: each role of each function, on one of the resources that it is given on. */
import { describeLackOf } from './deployment-grants.js';

describeLackOf(({ isLast }) => isLast);
