/** The form of a row in the table of settings, and the schemas that rows of several rooms share. */
import * as z from 'zod';
import { isLoopback } from '../shared/loopback.js';
import { asciiLowerCased, Email } from '../shared/organization/email.js';
import { isRefusedHost } from './webhook/target.js';

export interface Setting<T = unknown> {
  /** One or two sentences for the reference page. */
  readonly help: string;
  readonly schema: z.ZodType<T, string>;
  /** In the form of the environment. Without a default, the setting is `required` or may be undefined. */
  readonly default?: string;
  readonly required?: true;
}

export const setting = <T>(
  schema: z.ZodType<T, string>,
  help: string,
  fallback: string,
): Setting<T> & { default: string } => ({
  help,
  schema,
  default: fallback,
});
export const optional = <T>(schema: z.ZodType<T, string>, help: string): Setting<T> => ({ help, schema });
export const required = <T>(schema: z.ZodType<T, string>, help: string): Setting<T> & { required: true } => ({
  help,
  schema,
  required: true,
});

export type Rows = Readonly<Record<string, Setting>>;

type Always<S> = S extends { readonly default: string } | { readonly required: true } ? true : false;
/** What is read of the rows of a table. */
export type Values<R extends Rows> = {
  readonly [Name in keyof R]: z.output<R[Name]['schema']> | (Always<R[Name]> extends true ? never : undefined);
};

export const ifSet = <K extends string, T>(key: K, value: T | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [k in K]?: T };

export const text = z.string();
export const onOrOff = z.enum(['on', 'off'], 'must be on or off');
export const list = text
  .transform((value) => value.split(',').map((each) => each.trim()))
  .transform((values) => values.filter((each) => each !== ''));
export const emails = list.pipe(z.array(Email));
export const domains = list.transform((values) => values.map(asciiLowerCased));
export const count = text.regex(/^\d{1,9}$/, 'must be a whole number').transform(Number);
export const bucketName = text.regex(/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/, 'must be the name of a bucket');
export const hostPort = text.regex(/^[\w.-]+:\d+$|^\[[\da-f:]+\]:\d+$/i, 'must be host:port');

/** A function that calls its own metadata server would tell it what only the receiver is to know. */
export const secureUrl = text
  .refine((value) => {
    if (!URL.canParse(value)) return false;
    const { protocol, hostname } = new URL(value);
    return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  }, 'must be an https URL (plain http is for loopback only)')
  .refine(
    (value) => !URL.canParse(value) || !isRefusedHost(new URL(value).hostname),
    'must not be the metadata server, another link-local address, or this computer by another address than 127.0.0.1 or ::1',
  );
export const url = secureUrl.transform((value) => value.replace(/\/+$/, ''));
/** As browsers name the origin of a page, and as names of images begin. */
export const origin = url.refine((value) => new URL(value).pathname === '/', 'must have no path');
