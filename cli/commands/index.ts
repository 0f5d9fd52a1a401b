/** The commands, in the order in which help lists them. */
import type { Command } from '../command.js';
import { bootstrapCloud } from './bootstrap-cloud.js';
import { cancel } from './cancel.js';
import { list } from './list.js';
import { status } from './status.js';

export const commands: readonly Command[] = [bootstrapCloud, status, cancel, list];
