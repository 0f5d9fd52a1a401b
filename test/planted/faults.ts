/** Faults to plant, one at a time, and the tests that must notice each. */
import type { Fault } from './fault.js';

export const faults: readonly Fault[] = [
  {
    name: 'Whoever loses access goes on hearing an open stream of events',
    source: '350158d',
    edits: [{ find: 'latest = await visible(id, caller);', put: 'latest = found;' }],
    tests: ['http/bootstraps.test.js'],
    fails: 'breaks off when its owner shares it no more',
  },
  {
    name: 'A role is looked at while a step of before may still give it once more',
    source: '13dea38',
    edits: [
      {
        find: 'const writes = await afterHolders(context, transitionWrites(id, version, data, told, at), at)',
        put: 'const writes = transitionWrites(id, version, data, told, at)',
      },
    ],
    tests: ['engine/people.test.js'],
    fails: 'is looked at when the last of that is over',
    simulated: 'bootstraps',
  },
  {
    name: 'Names of organizations and teams hold control characters',
    source: '5bcd5b3',
    edits: [{ find: 'const found = hiddenIn(text);', put: "const found = hiddenIn('');" }],
    tests: ['http/organizations.test.js'],
    fails: 'are refused with a line break in its name',
  },
  {
    name: 'A removed record keeps a late project from the search by labels',
    source: '9094961',
    edits: [{ find: "over: record.state === 'removed' || undefined", put: 'over: undefined' }],
    tests: ['cleanup/never-the-wrong-one.search.test.js'],
    fails: 'leaves none that must go',
  },
  {
    name: 'A token that no header can bear is sent, and quoted by what refuses it',
    source: '047b8ef',
    edits: [{ find: 'if (/^[\\x21-\\x7e]+$/.test(token)) return token;', put: 'if (token.length > 0) return token;' }],
    tests: ['cli/commands.test.js'],
    fails: 'is no token that a header cannot bear',
  },
  {
    name: "The jumpbox does not hold the caller's package against --install-hash and --install-version",
    source: '18b7306',
    edits: [
      { find: '...(installHash === undefined ? [] : [', put: "...(installHash !== '' ? [] : [" },
      { find: '...(installVersion === undefined ? [] : [`', put: "...(installVersion !== '' ? [] : [`" },
    ],
    tests: ['package/package-store.test.js'],
    fails: 'leaves what a package of the caller must bear to whoever reads it on the jumpbox',
  },
  {
    name: 'A secret is found by a list, which knows late what was written',
    source: '3aec8a4',
    edits: [
      {
        find: "return (await orUndefined(read(secretId, '1'))) === undefined ? undefined : '1';",
        put: 'return (await versionsOf(secretId))[0];',
      },
    ],
    tests: ['install-config/secret-manager.test.js'],
    fails: 'take one call to find',
    simulated: 'bootstraps',
  },
  {
    name: 'The deployed cleanup has no client to ask for its next run with',
    source: '471c951',
    edits: [
      {
        find: "'@google-cloud/scheduler': ['bootstraps', 'cleanup'],",
        put: "'@google-cloud/scheduler': ['bootstraps'],",
      },
    ],
    tests: ['release/bundle-contents.tools.test.js'],
    fails: 'holds the client of what its roles let it call',
  },
  {
    name: 'A team takes a member who is just being removed from its organization',
    source: 'new',
    edits: [{ find: 'if (leftMs > 0) {', put: 'if (leftMs > 1e15) {' }],
    tests: ['http/organizations-removal.test.js'],
    fails: 'leaves a member that no team and no migration takes',
  },
  {
    name: 'A policy is written without the etag that it was read with',
    source: 'new',
    edits: [
      {
        find: 'return { ...policy, version: policyVersion, bindings };',
        put: 'return { version: policyVersion, bindings };',
      },
    ],
    tests: ['cloud/policy.test.js'],
    fails: 'are read again when a race is lost, and written with what was read last',
    simulated: 'bootstraps',
  },
  {
    name: 'What Google has not spread yet fails its step at once',
    source: 'new',
    edits: [
      {
        find: "'A change has not reached all of Google Cloud yet', 'propagation'",
        put: "'A change has not reached all of Google Cloud yet', 'none'",
      },
    ],
    tests: ['engine/retry.test.js'],
    fails: 'gives what was made just now ten minutes',
    simulated: 'bootstraps',
  },
  {
    name: 'A lease is not renewed while its step runs',
    source: 'new',
    edits: [
      {
        find: 'if (!stopped) await copy.save({}, document.writeTogether);',
        put: 'if (!stopped) await Promise.resolve();',
      },
    ],
    tests: ['engine/lease.test.js'],
    fails: 'is renewed while its step runs',
    simulated: 'bootstraps',
  },
  {
    name: 'A removal marks the member before it looks for teams, and a migration takes the mark for absence',
    source: '472a91b',
    edits: [
      { find: 'if (held.length > 0) await checkInNone(context, caller, asked, held);', put: '' },
      { find: 'if (leftMs > 0) {', put: 'if (leftMs > 1e15) {' },
      {
        find: 'const belongs = ({ email }: Member): boolean => inOrganization.has(email);',
        put: 'const belongs = ({ email }: Member): boolean => inOrganization.get(email)?.governs === true;',
      },
    ],
    tests: ['simulation/organizations.test.js'],
    fails: 'nobody takes them for absent before they are',
  },
  {
    name: 'Events are listed by the time of a process, not by that of their commit',
    source: 'new',
    edits: [{ find: '.sort(newestFirst);', put: '.sort((a, b) => (a.event.id < b.event.id ? 1 : -1));' }],
    tests: ['simulation/organizations.test.js'],
    fails: 'keep their rules under',
  },
  {
    name: 'A lease is ended without the version that was read',
    source: 'new',
    edits: [
      {
        find: "if (resolution.state !== 'client') return { kind: 'delete', ...lease };",
        put: "if (resolution.state !== 'client') return { kind: 'delete', collection: lease.collection, id: lease.id };",
      },
    ],
    tests: ['engine/together.test.js'],
    fails: 'end without the one that somebody else has taken over meanwhile',
  },
  {
    name: 'A new bootstrap is admitted by counters that were read before its secrets were written',
    source: 'new',
    edits: [
      {
        find: `if (draft.callerSecret === undefined) {
    // A refused command must leave no secret behind.
    await count();`,
        put: `let early: Awaited<ReturnType<typeof count>> | undefined;
  if (draft.callerSecret === undefined) {
    early = await count();`,
      },
      {
        find: `const counted = await count();
    const begun =`,
        put: `const counted = early ?? (await count());
    const begun =`,
      },
      {
        find: ": { kind: 'update', ...at, version, data };",
        put: ": { kind: 'update', ...at, data };",
      },
    ],
    tests: ['simulation/races.test.js'],
    fails: 'it is counted, or refused',
    simulated: 'bootstraps',
  },
  {
    name: 'What a longer life comes to is counted without the version of the counters',
    source: 'new',
    edits: [
      {
        find: ": { kind: 'update', ...at, version, data };",
        put: ": { kind: 'update', ...at, data };",
      },
    ],
    tests: ['simulation/races.test.js'],
    fails: 'both are counted',
  },
  {
    name: 'A prepared project is claimed once more by whoever lost the race for it',
    source: 'new',
    edits: [
      {
        find: 'return found !== undefined && isFree(found.data, clock.now().toISOString()) ? found : undefined;',
        put: 'return clock === undefined ? undefined : found;',
      },
    ],
    tests: ['pools/pools.test.js'],
    fails: 'is taken once each by claims of two processes at once',
  },
  {
    name: 'A prepared project is claimed whoever has it by now',
    source: 'new',
    edits: [
      {
        find: 'return { record: claimed, writes: transitionWrites(draft.id, member.version, member.data, begun, at) };',
        put: "return { record: claimed, writes: transitionWrites(draft.id, member.version, member.data, begun, at).map((write): Write => write.kind === 'update' ? { ...write, kind: 'set', data: { ...member.data, ...write.data } } : write.kind === 'create' ? { ...write, kind: 'set' } : write) };",
      },
    ],
    tests: ['pools/pools.test.js'],
    fails: 'is left by whoever looked at it before another process claimed it',
  },
  {
    name: 'The claim of an idempotency key is sent again, and meets itself',
    source: 'new',
    edits: [{ find: 'await store.commit([write], { once: true });', put: 'await store.commit([write]);' }],
    tests: ['http/lost-claim.test.js'],
    fails: 'is answered 503 at once',
  },
  {
    name: 'An identity provider that has too much to do is taken for one that refuses',
    source: '6551246',
    edits: [{ find: 'status !== 408 && status !== 429 && /', put: 'status !== 408 && /' }],
    tests: ['console/identity-provider.test.js'],
    fails: 'that answers 429 is unavailable to both',
  },
  {
    name: 'An API that answers nobody ends the instances that ask it',
    source: 'bf8f230',
    edits: [{ find: 'if (!afresh) {', put: 'if (!afresh && youngSeconds < 0) {' }],
    tests: ['functions/dead-pool.test.js'],
    fails: 'goes on where nobody gets an answer',
  },
  {
    name: 'A connection to Firestore is never asked for a sign of life',
    source: '0020cf7',
    edits: [{ find: "'grpc.keepalive_time_ms': checks.silentSeconds * 1000,", put: '' }],
    tests: ['functions/dead-connections.test.js'],
    fails: 'to Firestore is replaced by another one',
  },
  {
    name: 'What is on this computer is asked for through the proxy of a company',
    source: 'ebcfa1b',
    edits: [{ find: "  if (isLoopbackHost(host)) return { proxy: undefined, because: 'loopback' };\n", put: '' }],
    tests: ['cli/proxy-ways.test.js'],
    fails: 'is direct to 127.0.0.1',
  },
  {
    name: 'A build asks for an ID token of its service account as that account, which has no role on itself',
    source: 'ebcfa1b',
    edits: [{ find: 'Object.assign(client, { serviceAccountImpersonationUrl: undefined })', put: 'client' }],
    tests: ['cli/keyless.test.js'],
    fails: 'speaks for the service account that these name, to the OAuth client of the deployment',
  },
  {
    name: 'A removal meets a lien only when DNS, roles and credentials are gone',
    source: '1df4c30',
    edits: [{ find: 'checkUndo: ({ context, bootstrap }) => refuseLiens(context, bootstrap.projectId),', put: '' }],
    tests: ['cleanup/removals.test.js'],
    fails: 'respects a lien, reports it, and leaves the project alone',
  },
  {
    name: 'A job that ended between two runs of its step counts for nothing',
    source: 'new',
    edits: [{ find: '(isMine || (await isThere()))', put: '(isMine || (await isThere()) === undefined)' }],
    tests: ['simulation/install-races.test.js'],
    fails: 'what has come is not fetched again',
  },
  {
    name: 'A job is not begun again when a restart took away what was provided for it',
    source: 'new',
    edits: [{ find: '|| look.exitCode === exitCodeWithoutIt', put: '|| exitCodeWithoutIt === -1' }],
    tests: ['steps/follow-job.test.js'],
    fails: 'if the machine restarts just before its start',
  },
  {
    name: 'A step is given up for functions that ended, though its own turns came to an end',
    source: 'new',
    edits: [{ find: 'if (held.current().deaths > 0) held.tell({ deaths: 0 });', put: '' }],
    tests: ['engine/run.test.js'],
    fails: 'if turns of it end in between',
  },
];
