/** The path of a method of Google's, with names in place of its parameters. */
import type { Method } from '../../local/cloud/kernel/surface.js';

/** `nameFor` gets the word before a name in the path, or else the parameter's name. */
export function namedPath(
  { path: template, parameters = {} }: Pick<Method, 'path' | 'parameters'>,
  nameFor: (word: string) => string,
): { readonly path: string; readonly params: Record<string, string> } {
  const params: Record<string, string> = {};
  const path = template.replaceAll(/\{(\+?)([^}]+)\}/g, (_, reserved: string, name: string) => {
    const pattern = (parameters[name]?.pattern ?? '^[^/]+$').replaceAll(/\[\^\/\]\+|\.\*/g, '*');
    const parts = reserved === '' ? ['*'] : pattern.replaceAll(/[\^$]/g, '').split('/');
    // `services.get` has the bare pattern of two names: they are a project's.
    if (parts[0] === '*' && parts.length > 1) parts[0] = 'projects';
    params[name] = parts.map((part, i) => (part === '*' ? nameFor(parts[i - 1] ?? name) : part)).join('/');
    return params[name];
  });
  return { path, params };
}
