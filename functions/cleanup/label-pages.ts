/**
 * The search for projects by labels. Google answers it in pages, and cannot search for late projects only. Each run looks at
 * one page. The place of the next page is stored until the last one was looked at.
 */
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { ProjectPage } from '../cloud/projects.js';
import type { Context } from '../context.js';
import { liftPass, type PassRecord, read } from '../engine/record/documents.js';
import { Conflict, type Document, type Write } from '../store/store.js';

const passId = 'projects-by-labels';

export interface LabelPage extends Pick<ProjectPage, 'projects'> {
  /** Call it when the page was looked at. The next run gets the next page, or the first after the last. */
  turn(): Promise<void>;
}

export async function nextPage(context: Context, query: string): Promise<LabelPage> {
  const { store, clock } = context;
  const document = await store.get(collections.passes, passId);
  const pass = readable(document);
  const { projects, nextPageToken } = await pageAt(context, query, pass?.query === query ? pass.pageToken : undefined);
  return {
    projects,
    async turn() {
      const write = turning(document, query, nextPageToken, clock.now().toISOString());
      if (write === undefined) return;
      try {
        await store.commit([write]);
      } catch (error) {
        // Another run had the same page at the same time. What it wrote is kept.
        if (!(error instanceof Conflict)) throw error;
      }
    },
  };
}

/** The search begins again if another release wrote the place. */
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

/** Undefined: everything fits on one page, so nothing is stored. */
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
