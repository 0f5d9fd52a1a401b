/** Serves the page that a problem's `type` links to. Each API serves these pages to anybody. */
import type { problemRoutes } from '../../../shared/api.js';
import { problemHelp } from '../../../shared/problem-help.js';
import { type ProblemCode, problemKinds } from '../../../shared/problems.js';
import type { Handlers } from '../router.js';

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const pageOf = (code: ProblemCode): string => {
  const { title, status, exit } = problemKinds[code];
  const { cause, wayOut } = problemHelp[code];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
<p>${escaped(cause)}</p>
<p>${escaped(wayOut)}</p>
<p>HTTP status ${status}, code <code>${code}</code>; the command exits with ${exit}.</p>
</html>
`;
};

export const problemHandlers: Handlers<typeof problemRoutes> = {
  explainProblem: async ({ params }) => ({
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'cache-control': 'public, max-age=3600',
    },
    body: pageOf(params.code),
  }),
};
