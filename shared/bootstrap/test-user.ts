/**
 * Where the jumpbox keeps the test user until the caller's machine fetches it. The file is in memory, and only root can read
 * it. It holds the last line that `plinth install user --json` printed. The fetch deletes it and leaves an empty file with the
 * suffix `.fetched`.
 */
export const testUserFile = '/run/plinth/test-user.json';
