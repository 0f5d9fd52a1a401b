/** plinth itself, as a command line that somebody else's program can run: this file under Node, or the one executable. Called by ssh-config.ts. */
import { isSea } from 'node:sea';

export const ownProgram = (): string[] => [process.execPath, ...(isSea() ? [] : [process.argv[1] ?? ''])];
