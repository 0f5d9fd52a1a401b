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
    name: 'An id of any form names a document',
    source: 'guard',
    edits: [{ find: ".regex(/^[a-z][a-z0-9-]{0,62}$/, 'is no id of a bootstrap')", put: '' }],
    tests: ['http/hostile-requests.test.js'],
    fails: 'reach nothing: ',
  },
  {
    name: 'A body is read however long it is',
    source: 'guard',
    edits: [{ find: 'if (body.cut || body.bytes.length > limit) {', put: 'if (body.bytes.length > 1_000_000_000) {' }],
    tests: ['http/openapi.test.js'],
    fails: 'know of headers that are too large, which Node itself refuses, and of bodies',
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
        find: '!URL.canParse(value) || !isRefusedHost(new URL(value).hostname)',
        put: '!URL.canParse(value) || isRefusedHost !== undefined',
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
    name: 'Whoever makes an organization takes any team into it, where nothing is said of consent',
    source: 'guard',
    edits: [{ find: 'read.PLINTH_ORGANIZATION_CREATORS.length > 0', put: 'false' }],
    tests: ['http/team-takeover.test.js'],
    fails: 'takes no team where nothing is said of consent and organizations are made by example.com',
  },
  {
    name: 'Whoever makes an organization takes teams with their projects, where consent is off',
    source: 'guard',
    edits: [
      {
        find: "own?.role !== 'admin' && (await hasProjects(context, team))",
        put: '(await hasProjects(context, team)) && team.teamId < 0',
      },
    ],
    tests: ['http/team-takeover.test.js'],
    fails: 'takes no team that has a living project, even where consent is off; its admin gives it by a transfer',
  },
  {
    name: 'A former admin takes projects that began after they had left',
    source: 'guard',
    edits: [
      {
        find: '!isAdmin && (await hasProjects(context, team))',
        put: '!isAdmin && (await hasProjects(context, team)) && team.teamId < 0',
      },
    ],
    tests: ['http/team-takeover.test.js'],
    fails: 'gets nothing by the undo of a migration that has removed them, once others have projects in the team',
  },
  {
    name: 'A preview names the members of a team to whoever tries its number',
    source: 'guard',
    edits: [{ find: 'team.organizationId === null && !seesMembers(caller, seen.members)', put: 'team.teamId < 0' }],
    tests: ['http/organizations-migration.test.js'],
    fails: 'tells a caller who does not see the team how many stay and leave, and no names',
  },
  {
    name: 'Previews do not count',
    source: 'guard',
    edits: [
      {
        find: "problems: ['members-outside', 'forbidden', 'conflict', 'precondition-failed', 'key-reused', 'too-many'],",
        put: "problems: ['members-outside', 'forbidden', 'conflict', 'precondition-failed', 'key-reused'],",
      },
    ],
    tests: ['http/rate-limit.test.js'],
    fails: 'counts who tries out the numbers of teams by migrateTeam',
  },
  {
    name: 'The webhook goes wherever its name leads',
    source: 'guard',
    edits: [{ find: 'if (bad !== undefined) return', put: 'if (bad?.address === name) return' }],
    tests: ['functions/webhook-target.test.js'],
    fails: 'is not sent to an address of the function or of a metadata server, by a name or without: 127.0.0.1',
  },
  {
    name: 'Browsers may reach the APIs by plain HTTP',
    source: 'guard',
    edits: [{ find: '  ...httpsAlone,\n', put: '' }],
    tests: ['http/transport-security.test.js'],
    fails: 'is in the answer of bootstraps: 200 GET /health',
  },
  {
    name: 'Any page calls bootstraps',
    source: 'guard',
    edits: [{ find: '    if (request.headers.origin !== origin) return inner(request, response);\n', put: '' }],
    tests: ['console/page.test.js'],
    fails: 'from no other origin, such as https://evil.example',
  },
];
