/** The bad requests that every API refuses alike, made from one good one. */
import type { SimulatedApi } from '../../local/cloud/kernel/api.js';
import { project, stranger } from './ready-cloud.js';
import type { Refusal } from './refusals.js';

export function commonRefusals(api: SimulatedApi, line: string, body: object): Refusal[] {
  const hasErrors = api === 'compute' || api === 'dns';
  const reason = (status: string, legacy: string): string => (hasErrors ? legacy : status);
  const here = line.replaceAll('/P/', `/${project}/`);
  const good = { api, line: here, body };
  const elsewhere = (other: string): string => here.replaceAll(`/${project}/`, `/${other}/`);
  const query = (text: string): string => `${here}${here.includes('?') ? '&' : '?'}${text}`;
  return [
    {
      ...good,
      name: 'a call without a token',
      token: undefined,
      code: 401,
      reason: reason('UNAUTHENTICATED', 'required'),
    },
    {
      ...good,
      name: 'a token that is not ours',
      token: 'ya29.x.y',
      code: 401,
      reason: reason('UNAUTHENTICATED', 'authError'),
    },
    { ...good, name: 'a stranger', as: stranger, code: 403, reason: reason('PERMISSION_DENIED', 'forbidden') },
    {
      ...good,
      name: 'a project that is not there',
      line: elsewhere('no-such-project'),
      code: 403,
      reason: reason('PERMISSION_DENIED', 'forbidden'),
    },
    {
      ...good,
      name: 'a project number that is not there',
      line: elsewhere('999999999999'),
      code: 403,
      reason: reason('PERMISSION_DENIED', 'forbidden'),
    },
    {
      ...good,
      name: 'a project without the API',
      line: elsewhere('bare-project'),
      code: 403,
      reason: reason('PERMISSION_DENIED', 'accessNotConfigured'),
      says: /has not been used in project \d+ before or it is disabled/,
    },
    {
      ...good,
      name: 'a body that is no JSON',
      text: '{"name":',
      code: 400,
      reason: reason('INVALID_ARGUMENT', 'badRequest'),
    },
    { ...good, name: 'a body that is a list', text: '[]', code: 400, reason: reason('INVALID_ARGUMENT', 'badRequest') },
    {
      ...good,
      name: 'a field that there is not',
      body: { ...body, colour: 'red' },
      code: 400,
      reason: reason('INVALID_ARGUMENT', 'badRequest'),
      says: /Unknown name "colour"/,
    },
    {
      ...good,
      name: 'a query parameter that there is not',
      line: query('colour=red'),
      code: 400,
      reason: reason('INVALID_ARGUMENT', 'badRequest'),
      says: /colour/,
    },
  ];
}
