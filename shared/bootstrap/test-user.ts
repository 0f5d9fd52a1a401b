/**
 * Where the test user waits for the caller's machine on the jumpbox, in memory, root's alone: the last line of what
 * `plinth install user --json` printed. Once it was fetched it is gone, and an empty file with `.fetched` at its end stands there.
 */
export const testUserFile = '/run/plinth/test-user.json';
