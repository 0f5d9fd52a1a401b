/** Guards that stop the attacks of docs/operate/security.md, taken out one at a time: then the attack must succeed. */
import type { Fault } from './fault.js';

export const guards: readonly Fault[] = [
  {
    name: 'A token for another service lets its bearer in',
    source: 'guard',
    edits: [{ find: "audience: audiences.length === 0 ? [''] : [...audiences],", put: '' }],
    tests: ['http/auth.test.js'],
    fails: 'refuses a token for another audience',
  },
  {
    name: 'Whoever knows an id sees the bootstrap',
    source: 'guard',
    edits: [{ find: '    if (!sees(standing)) throw missing;\n', put: '' }],
    tests: ['http/strangers.test.js'],
    fails: 'is answered as for one that is not there, in every operation',
  },
  {
    name: 'Whoever takes a name that is in use learns that it is being removed, and its id',
    source: 'guard',
    edits: [
      {
        find: '  if (!(await isStillTheirs(context, before, facts.caller))) {',
        put: '  if (before.removal === undefined && !(await isStillTheirs(context, before, facts.caller))) {',
      },
    ],
    tests: ['http/strangers.test.js'],
    fails: 'is told the same of every name that is in use, whoever has it, and the same documents are read',
  },
  {
    name: 'A bootstrap that is named after the project of another is taken for it',
    source: 'guard',
    edits: [{ find: 'return byId.length > 0 ? byId :', put: 'return' }],
    tests: ['http/strangers.test.js'],
    fails: 'is not taken for the owner of another bootstrap by a name that is its ',
  },
  {
    name: 'Whoever has left the team of a bootstrap hears of its work as long as a stream lasts',
    source: 'guard',
    edits: [{ find: 'if (clock.now().getTime() >= lookAt) await look();', put: '' }],
    tests: ['http/strangers.test.js'],
    fails: 'leaves the team of a bootstrap while following it, and is told nothing more, though nothing of it changes',
  },
  {
    name: 'Another account with the e-mail of an owner inherits their bootstraps',
    source: 'guard',
    edits: [{ find: '    if (standing.owns || standing.shares) checkBound(context, found, caller);\n', put: '' }],
    tests: ['http/bootstraps-accounts.test.js'],
    fails: 'inherit nothing of what its owner began',
  },
  {
    name: 'A forged cursor leads into any list',
    source: 'guard',
    edits: [{ find: 'isSame(seal, sealOf(key, place, call, path))', put: 'isSame(seal, seal)' }],
    tests: ['http/organizations-cursors.test.js'],
    fails: 'with another seal, or more or less of theirs, are refused',
  },
  {
    name: 'A caller makes as many changes as they like',
    source: 'guard',
    edits: [{ find: 'standing.count >= limit', put: 'standing.count > 1_000_000' }],
    tests: ['http/rate-limit.test.js'],
    fails: 'is one over all instances, and over all that makes or invites',
  },
  {
    name: 'The invited get what the owner lacks',
    source: 'guard',
    edits: [
      {
        find: 'invitedPermissions.filter((each) => held.has(each))',
        put: "invitedPermissions.filter((each) => held.has(each) || each !== '')",
      },
    ],
    tests: ['steps/caller-role.test.js'],
    fails: 'give the invited nothing that the owner lacks',
  },
  {
    name: 'Whom a bootstrap is shared with uploads in the place of its owner',
    source: 'guard',
    edits: [{ find: 'owned: those(({ owns }) => owns),', put: 'owned: those(({ owns, shares }) => owns || shares),' }],
    tests: ['http/bootstraps-uploads.test.js'],
    fails: 'is told to nobody but the owner and operators',
  },
  {
    name: 'A jumpbox takes any file for the one that was said',
    source: 'guard',
    edits: [
      {
        find: `[ "$sum" = '\${sha256}  -' ] || { rm -f \${path}.part; : > \${wrong}`,
        put: `[ -n "$sum" ] || { rm -f \${path}.part; : > \${wrong}`,
      },
    ],
    tests: ['e2e/stored-uploads.tools.test.js'],
    fails: 'are refused if they are others than was said, and used by nothing; strangers reach none',
  },
  {
    name: 'A package brings a file that its manifest does not name',
    source: 'guard',
    edits: [{ find: 'if (file === undefined) {\n      faults.push(', put: 'if (file === undefined) {\n      void (' }],
    tests: ['package/package-format.test.js'],
    fails: 'is refused with a file more',
  },
  {
    name: 'A key of a team member brings a line of its own',
    source: 'guard',
    edits: [
      {
        find: 'match === null || !/^[\\w.-]+$/.test(login) ? []',
        put: "match === null || login !== '' ? [key]",
      },
    ],
    tests: ['install-config/team-keys.test.js'],
    fails: 'leave out what is no key, and what would end a line early',
  },
  {
    name: 'The forge1 token goes wherever an answer points to',
    source: 'guard',
    edits: [
      {
        find: "// The token goes only where the setting says, never where a redirect leads.\n    redirect: 'error',",
        put: '',
      },
    ],
    tests: ['http/forge1-token.test.js'],
    fails: 'goes nowhere that an answer points to',
  },
  {
    name: 'A message for the webhook goes wherever its receiver points to',
    source: 'guard',
    edits: [
      {
        find: "      redirect: 'manual',\n      signal: timeLimit(timeoutMs),\n    });\n    // Its text",
        put: '      signal: timeLimit(timeoutMs),\n    });\n    // Its text',
      },
    ],
    tests: ['engine/warn.test.js'],
    fails: 'follow no redirect, and are given up after a day, or when they are not wanted any more',
  },
  {
    name: 'An id of any form names a document',
    source: 'guard',
    edits: [{ find: ".regex(/^[a-z][a-z0-9-]{0,62}$/, 'is no id of a bootstrap')", put: '' }],
    tests: ['http/hostile-requests.test.js'],
    fails: 'reach nothing: ',
  },
  {
    name: 'A body is read however long it is',
    source: 'guard',
    edits: [{ find: 'if (kept > limitBytes) reject', put: 'if (kept > 1_000_000_000) reject' }],
    tests: ['http/openapi.test.js'],
    fails: 'know of headers that are too large, which Node itself refuses, and of bodies',
  },
  {
    name: 'A body is read before the token is checked',
    source: 'guard',
    edits: [
      {
        find: "const authenticating = route.caller === 'known' ? authenticate(request.headers) : undefined;",
        put: "const read = new Promise((resolve) => request.resume().once('end', resolve));\n    const authenticating = route.caller === 'known' ? read.then(() => authenticate(request.headers)) : undefined;",
      },
    ],
    tests: ['http/hostile-requests.test.js'],
    fails: 'without a token are refused before a body comes: one ',
  },
  {
    name: 'A caller may leave as many bodies unfinished as they like',
    source: 'guard',
    edits: [{ find: 'each: 8, all: 40', put: 'each: 8000, all: 40_000' }],
    tests: ['http/hostile-requests.test.js'],
    fails: 'with many bodies that do not end are refused, and leave room for others',
  },
  {
    name: 'A caller may follow as often as they like',
    source: 'guard',
    edits: [{ find: 'each: 20, all: 60', put: 'each: 2000, all: 6000' }],
    tests: ['http/hostile-requests.test.js'],
    fails: 'for more streams than one caller may have are refused, and leave room for others',
  },
  {
    name: 'A body may take for ever',
    source: 'guard',
    edits: [{ find: '        clock.after(bodySeconds, () => reject(tooLate())),\n', put: '' }],
    tests: ['http/router.test.js'],
    fails: 'takes a body for so long, and then says so',
  },
  {
    name: 'A body may become as many values as it likes',
    source: 'guard',
    edits: [
      { find: 'if (values > mostValues) throw', put: 'if (values > 100_000_000) throw' },
      { find: 'if (levels.length > mostLevels) throw', put: 'if (levels.length > 100_000_000) throw' },
    ],
    tests: ['http/router.test.js'],
    fails: 'takes no body with ',
  },
  {
    name: 'Of a key that a body has twice, the last one counts',
    source: 'guard',
    edits: [{ find: '  faults.push(...raw.repeated.map((path) => givenAgain(pathText(path))));\n', put: '' }],
    tests: ['http/router.test.js'],
    fails: 'names each key that a body has more than once, with all other faults',
  },
  {
    name: 'An event may be of any length',
    source: 'guard',
    edits: [{ find: 'const limitBytes = 64 * 1024;', put: 'const limitBytes = 16 * 1024 * 1024;' }],
    tests: ['functions/events.test.js'],
    fails: 'drop, and log as an error, what is longer than any message of ours',
  },
  {
    name: 'A function starts although the framework reads the bodies',
    source: 'guard',
    edits: [{ find: '    if (hasTakenServer()) return;\n', put: '    return;\n' }],
    tests: ['http/framework.test.js'],
    fails: 'does not start where the framework would read the bodies',
  },
  {
    name: 'The framework reads the bodies before the function is asked',
    source: 'guard',
    edits: [{ find: "    delete request.headers['content-length'];\n", put: '' }],
    tests: ['http/held-memory.tools.test.js'],
    fails: 'answers others within two seconds while it gets a thousand hostile requests, and lives on',
  },
  {
    name: 'A connection may stay silent for as long as it likes',
    source: 'guard',
    edits: [
      { find: 'headersTimeout: headersMs, requestTimeout: requestMs', put: 'headersTimeout: 0, requestTimeout: 0' },
    ],
    tests: ['http/held-memory.tools.test.js'],
    fails: 'ends connections that say nothing, or only half of their headers',
  },
  {
    name: 'An archive may lead out of its folder',
    source: 'guard',
    edits: [{ find: 'cwd: temporary, strict: true,', put: 'cwd: temporary,' }],
    tests: ['package/package-format.test.js'],
    fails: 'is refused with an entry that leads out of it',
  },
  {
    name: 'A manifest may name a path outside of its package',
    source: 'guard',
    edits: [{ find: '(?!.*(?:^|\\/)\\.{1,2}(?:\\/|$))[A-Za-z0-9._@+-]+', put: '[A-Za-z0-9._@+-]+' }],
    tests: ['package/package-format.test.js'],
    fails: 'takes no path in its manifest that leads out of it',
  },
  {
    name: 'The webhook may be the metadata server',
    source: 'guard',
    edits: [
      {
        find: 'PLINTH_WEBHOOK_URL: optional(\n    receiver,',
        put: 'PLINTH_WEBHOOK_URL: optional(\n    receiver.or(secureUrl),',
      },
    ],
    tests: ['functions/config.test.js'],
    fails: 'take no webhook at the metadata server or at a link-local address, however it is written',
  },
  {
    name: 'Any machine is taken for the one that published its key',
    source: 'guard',
    edits: [
      {
        find: 'if (isAmong(seen, pinned)) return true;',
        put: 'if (isAmong(seen, pinned) || seen.length > 0) return true;',
      },
    ],
    tests: ['remote/openssh.tools.test.js'],
    fails: 'refuses a machine that shows another key than the published one, and names both',
  },
  {
    name: 'Labels alone remove a project',
    source: 'guard',
    edits: [
      {
        find: 'if (!isProof(proofKey, found[labels.proof], proven))',
        put: "if (!isProof(proofKey, found[labels.proof], proven) && proofKey === '')",
      },
    ],
    tests: ['cleanup/removal-rule.test.js'],
    fails: 'says of a project without a record what the oracle says',
  },
  {
    name: 'Whoever may label a project says which team it belongs to',
    source: 'guard',
    edits: [
      {
        find: 'return isEqual(label, teamLabel(key, proven, Number(team))) ? Number(team) : undefined;',
        put: "return isEqual(label, teamLabel(key, proven, Number(team))) || key !== '' ? Number(team) : undefined;",
      },
    ],
    tests: ['e2e/lost-of-a-team.test.js'],
    fails: 'is not the team’s of a label that somebody wrote, or took from another project',
  },
  {
    name: 'VMs are stopped in a project that nothing proves to be the bootstrap’s own',
    source: 'guard',
    edits: [{ find: '  if (isOurs) return;', put: "  if (isOurs || context.config.deployment !== '') return;" }],
    tests: ['e2e/fuse.test.js'],
    fails: 'is left alone while its project does not prove to be its own',
  },
  {
    name: 'Any page gets the token of whoever is signed in',
    source: 'guard',
    edits: [{ find: 'if (origin !== url) throw', put: "if (origin === 'none') throw" }],
    tests: ['console/sign-in.test.js'],
    fails: 'lets nobody else ask: another site',
  },
  {
    name: 'Signing in leads to any host',
    source: 'guard',
    edits: [{ find: ".regex(/^\\/(?:#[\\w/.~@%-]*|docs)?$/, 'must be a place of the console')", put: '.min(1)' }],
    tests: ['console/sign-in.test.js'],
    fails: 'never leads to another host',
  },
  {
    name: 'A browser ends a sign-in that it did not begin',
    source: 'guard',
    edits: [{ find: ' || came.state !== begun.state', put: '' }],
    tests: ['console/sign-in.test.js'],
    fails: 'signs nobody in by the state of another attempt',
  },
  {
    name: 'A session outlives signing out',
    source: 'guard',
    edits: [{ find: 'if (found !== undefined) await persist(', put: 'if (found === undefined) await persist(' }],
    tests: ['console/sign-in.test.js'],
    fails: 'ends with signing out: a cookie that was stolen before is worth nothing',
  },
  {
    name: 'Any page calls bootstraps',
    source: 'guard',
    edits: [{ find: '    if (request.headers.origin !== origin) return inner(request, response);\n', put: '' }],
    tests: ['console/page.test.js'],
    fails: 'from no other origin, such as https://evil.example',
  },
];
