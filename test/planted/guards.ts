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
    name: 'Any account of the deployment may ask check',
    source: 'guard',
    edits: [
      {
        find: 'if (caller.email === functionAccountIn(project, functionNames.bootstraps)) return caller;',
        put: 'if (functionAccountIn(project, functionNames.bootstraps) !== undefined) return caller;',
      },
    ],
    tests: ['functions/check.test.js'],
    fails: 'replies to nobody else, whatever the front end lets through',
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
    name: 'A change binds no membership, so that another account with the e-mail has it too',
    source: 'guard',
    edits: [{ find: 'if (events.length > 0) transaction.write(...bindWrites(caller, seen.own));', put: '' }],
    tests: ['organizations/accounts.test.js'],
    fails: "are another's after adding a member",
  },
  {
    name: 'A protection lasts for centuries, and each of its months is counted',
    source: 'guard',
    edits: [
      {
        find: "if (forAll !== undefined) throw refused('until', forAll, 'Give an earlier time.');",
        put: 'void forAll;',
      },
    ],
    tests: ['http/document-growth.test.js'],
    fails: 'is refused beyond a year from its beginning, with the latest time: ',
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
    edits: [{ find: '    strict: true,\n    preserveOwner: false,\n', put: '    preserveOwner: false,\n' }],
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
    name: 'A machine publishes any text as its host key',
    source: 'guard',
    edits: [
      { find: 'isBlob(type, base64, check) ? line : undefined;', put: 'isBlob(type, base64, check) ? line : line;' },
    ],
    tests: ['steps/host-key.test.js'],
    fails: 'is left out where it is anything else, in guest attributes',
  },
  {
    name: 'A record writes any line into known_hosts',
    source: 'guard',
    edits: [{ find: 'string[] => hostKeysIn(hostKeys);', put: 'string[] => [...new Set(hostKeys)];' }],
    tests: ['cli/ssh-config.test.js'],
    fails: 'holds each key for its own machine, and nothing else that a record says',
  },
  {
    name: 'A record writes any line into the config for ssh',
    source: 'guard',
    edits: [
      { find: 'value === undefined || isWord(value) ? []', put: 'value === undefined || isWord(value) || value ? []' },
    ],
    tests: ['cli/ssh-config.test.js'],
    fails: 'is refused with ',
  },
  {
    name: 'A jumpbox names programs that kubectl runs on the machine of the caller',
    source: 'guard',
    edits: [
      {
        find: "user: z.strictObject({ 'client-certificate-data'",
        put: "user: z.looseObject({ 'client-certificate-data'",
      },
    ],
    tests: ['cli/kube-config.test.js'],
    fails: 'is refused with ',
  },
  {
    name: 'Options that others see hold what cannot be seen',
    source: 'guard',
    edits: [
      { find: 'seen(bytes(max)).meta({ pattern: plainPattern })', put: 'bytes(max).meta({ pattern: plainPattern })' },
    ],
    tests: ['http/text-of-people.test.js'],
    fails: 'is looked at in every place of both APIs, and nothing that is not seen comes through',
  },
  {
    name: 'A terminal obeys what machines say',
    source: 'guard',
    edits: [{ find: 'visible(stripVTControlCharacters(text))', put: 'text' }],
    tests: ['cli/strange-text.test.js'],
    fails: 'can be seen in logs of machines on a terminal, and reaches a program byte by byte',
  },
  {
    name: 'The page of the console shows hidden text as it came',
    source: 'guard',
    edits: [{ find: '.map((part, at) => (at % 2 === 1 ? part : visible(part)))', put: '' }],
    tests: ['http/visible-text.test.js'],
    fails: 'is all that a page shows of an answer, line by line',
  },
  {
    name: 'Signing in leads to any host',
    source: 'guard',
    edits: [{ find: ".regex(/^\\/(?:#[\\w/.~@%-]*)?$/, 'must be a place of the console')", put: '.min(1)' }],
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
    edits: [
      { find: 'if (found !== undefined) await store.commit(', put: 'if (found === undefined) await store.commit(' },
    ],
    tests: ['console/sign-in.test.js'],
    fails: 'ends with signing out: a cookie that was stolen before is worth nothing',
  },
  {
    name: 'Whoever makes an organization takes any team into it, where nothing is said of consent',
    source: 'guard',
    edits: [{ find: 'consent === undefined ? creators.length > 0', put: 'consent === undefined ? false' }],
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
    edits: [{ find: 'team.organizationId === null && !seesMembers(caller, members)', put: 'team.teamId < 0' }],
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
  {
    name: 'A small archive fills memory and disk',
    source: 'guard',
    edits: [
      { find: '    maxDecompressionRatio: mostUnpacked.ratio,\n', put: '' },
      { find: '    else if (bytes > most)', put: '    else if (bytes < 0)' },
    ],
    tests: ['package/package-format.test.js'],
    fails: 'is not unpacked with a file of almost nothing but blanks',
  },
  {
    name: 'A label that is no id of ours names a document',
    source: 'guard',
    edits: [{ find: 'const named = isBootstrapId(id) ?', put: "const named = id !== '' ?" }],
    tests: ['e2e/unknown-projects.test.js'],
    fails: 'a label that no document’s id could be hides no other project, and keeps none from going',
  },
  {
    name: 'Whoever writes a label protects a project for ever',
    source: 'guard',
    edits: [{ find: 'timeOf(protection, longest)', put: 'new Date(protection).toISOString()' }],
    tests: ['e2e/lost-of-a-team.test.js'],
    fails:
      'is not kept longer by a protection that somebody wrote into its labels than by one that its owner may ask for',
  },
  {
    name: 'A pipe of another user is read in place of a file',
    source: 'guard',
    edits: [{ find: '    if (!found.isFile()) throw unfit(path, irregular);\n', put: '' }],
    tests: ['cli/given-files.test.js'],
    fails: 'is refused as ',
  },
  {
    name: 'A file is written through a link of another user',
    source: 'guard',
    edits: [{ find: 'if (self !== undefined && found.uid !== self && found.uid !== 0)', put: 'if (self === -1)' }],
    tests: ['cli/links-of-others.tools.test.js'],
    fails: 'leads nowhere: no file is written through it',
  },
  {
    name: 'One owner empties a pool by giving back what they take',
    source: 'guard',
    edits: [{ find: 'if (count >= context.config.limits.livingPerOwner) {', put: 'if (count === -1) {' }],
    tests: ['pools/pools.test.js'],
    fails: 'gives one owner in a day as many projects as they may have at once, however fast they are given back',
  },
  {
    name: 'A caller has all projects searched as often as they like',
    source: 'guard',
    edits: [
      {
        find: '    // Each look searches through all projects, and Google limits how often plinth may search.\n    await countChange(context, caller);\n',
        put: '',
      },
    ],
    tests: ['http/rate-limit.test.js'],
    fails: 'counts who looks for a lost project, because each look searches through all projects',
  },
  {
    name: 'Whoever reads a command’s refusal reads the lines of a damaged file of secrets',
    source: 'guard',
    edits: [
      { find: 'kinds[error.code]));\n  const alias', put: 'kinds[error.code] + text));\n  const alias' },
      {
        find: 'redact: <T>(data: T): T => inData(data, inText) as T,',
        put: 'redact: <T>(data: T): T => inData(data, (text) => text) as T,',
      },
    ],
    tests: ['cli/planted-secrets.test.js'],
    fails: 'come out of no command that reads a damaged file',
  },
  {
    name: 'A damaged age identity is passed over',
    source: 'guard',
    edits: [
      {
        find: 'if (damaged.length > 0) throw damagedIn',
        put: 'if (damaged.length > text.length) throw damagedIn',
      },
    ],
    tests: ['cli/age-identities.test.js'],
    fails: 'that a run keeps opens its secrets file with any of them',
  },
  {
    name: 'A command that dies prints what it had read',
    source: 'guard',
    edits: [
      {
        find: 'redact: <T>(data: T): T => inData(data, inText) as T,',
        put: 'redact: <T>(data: T): T => inData(data, (text) => text) as T,',
      },
    ],
    tests: ['cli/secrets-in-errors.test.js'],
    fails: 'tells of ',
  },
  {
    name: 'A problem is answered with the secrets of its request',
    source: 'guard',
    edits: [{ find: 'redactHere(problemBody(problem, traceId))', put: 'problemBody(problem, traceId)' }],
    tests: ['http/router.test.js'],
    fails: 'says nothing of its own faults but the trace id, under which the log has the rest, without secrets',
  },
  {
    name: 'The log quotes a secret that is no JSON',
    source: 'guard',
    edits: [
      {
        find: 'const content = jsonIn(await read(name, version));',
        put: 'const content: unknown = JSON.parse(await read(name, version));',
      },
    ],
    tests: ['engine/run.test.js'],
    fails: 'keeps secrets that are damaged in Secret Manager out of documents and logs',
  },
  {
    name: 'An alias in an override takes its value from elsewhere in the config',
    source: 'guard',
    edits: [
      {
        find: '      if (here !== there) fault(alias, here === undefined ? into : outOf);\n      else if',
        put: '      if',
      },
    ],
    tests: ['install-config/config-steps.test.js'],
    fails: 'refuses an alias that leaves an override, by its line',
  },
];
