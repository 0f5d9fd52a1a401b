/**
 * Stands in for htpasswd on simulated machines, as the step `registry` calls it: `htpasswd -niB <user>`, password from
 * standard input, bcrypt.
 */
import { readFileSync } from 'node:fs';
import { hashSync } from 'bcryptjs';

/** Exit codes are htpasswd's own. */
function refuse(message: string, code: number): never {
  process.stderr.write(`htpasswd: ${message}\n`);
  process.exit(code);
}

const words = process.argv.slice(2);
const flags = words.filter((word) => word.startsWith('-')).flatMap((word) => [...word.slice(1)]);
const [user, ...rest] = words.filter((word) => !word.startsWith('-'));
for (const flag of flags) {
  if (!'niB'.includes(flag)) refuse(`-${flag} is unknown here: htpasswd -niB username is all that this one does`, 2);
}
for (const flag of 'niB') {
  if (!flags.includes(flag)) refuse(`-${flag} is missing: htpasswd -niB username is all that this one does`, 2);
}
if (user === undefined || rest.length > 0) refuse('Usage: htpasswd -niB username', 2);
if (user.includes(':')) refuse("username contains illegal character ':'", 6);

const password = readFileSync(0, 'utf8').replace(/\r?\n$/, '');
if (password.length > 255) refuse('password too long (>255)', 5);
/** htpasswd's own name for the same algorithm, and its own cost. */
const hash = hashSync(password, 5).replace(/^\$2b\$/, '$2y$');
process.stdout.write(`${user}:${hash}\n\n`);
