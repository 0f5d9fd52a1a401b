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
    edits: [
      { find: 'found === undefined || !(owns(caller, found) || shares(caller, found))', put: 'found === undefined' },
    ],
    tests: ['http/bootstraps.test.js'],
    fails: 'looks the same to others as what does not exist, in every operation',
  },
  {
    name: 'Another account with the e-mail of an owner inherits their bootstraps',
    source: 'guard',
    edits: [{ find: '    checkBound(context, found, caller);\n    return found;', put: '    return found;' }],
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
];
