/**
 * The search for projects by labels, which Google answers in pages and cannot be asked for what is late alone: each run of
 * cleanup looks at one page, and where the next one begins is kept until the last was looked at.
 */
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { ProjectPage } from '../cloud/projects.js';
import type { Context } from '../context.js';
import { liftPass, type PassRecord, read } from '../engine/record/documents.js';
import { persist } from '../store/persist.js';
import { Conflict, type Document, type Write } from '../store/store.js';

const passId = 'projects-by-labels';

export interface LabelPage extends Pick<ProjectPage, 'projects'> {
  /** It was looked at: the next run has the next one, or after the last the first again. */
  turn(): Promise<void>;
}

export async function nextPage(context: Context, query: string): Promise<LabelPage> {
  const { store, clock } = context;
  const document = await persist(() => store.get(collections.passes, passId));
  const pass = readable(document);
  const { projects, nextPageToken } = await pageAt(context, query, pass?.query === query ? pass.pageToken : undefined);
  return {
    projects,
    async turn() {
      const write = turning(document, query, nextPageToken, clock.now().toISOString());
      if (write === undefined) return;
      try {
        await persist(() => store.commit([write]));
      } catch (error) {
        // Another run had the same page at the same time; what that one wrote stands.
        if (!(error instanceof Conflict)) throw error;
      }
    },
  };
}

/** What another release wrote is begun anew. */
function readable(document: Document | undefined): PassRecord | undefined {
  try {
    return read(document, liftPass)?.data;
  } catch {
    return undefined;
  }
}

async function pageAt({ cloud, log }: Context, query: string, pageToken: string | undefined): Promise<ProjectPage> {
  try {
    return await cloud.projects.searchPage(query, pageToken);
  } catch (error) {
    if (pageToken === undefined || !(error instanceof Problem) || error.code !== 'cloud-input') throw error;
    log('WARNING', 'Google does not know any more where the search by labels was; it begins anew', { error });
    return cloud.projects.searchPage(query, undefined);
  }
}

/** Undefined: all fits on one page, and nothing needs to be kept. */
function turning(
  document: Document | undefined,
  query: string,
  pageToken: string | undefined,
  at: string,
): Write | undefined {
  const place = { collection: collections.passes, id: passId };
  const version = document === undefined ? {} : { version: document.version };
  if (pageToken === undefined) return document && { kind: 'delete', ...place, ...version };
  const data: PassRecord = { schema: 1, query, pageToken, at };
  return { kind: document === undefined ? 'create' : 'update', ...place, ...version, data };
}
