/** One rule for every text that others see: each place of both APIs where somebody may write one is looked at. */
import { expect } from 'chai';
import type * as z from 'zod';
import { bootstrapsApi } from '../../functions/http/bootstraps/api.js';
import { organizationsApi } from '../../functions/http/organizations/api.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { RouteTable } from '../../shared/api.js';
import { flagOf, isLocal, isSecret, optionNames } from '../../shared/bootstrap/options.js';
import { fieldOf } from '../../shared/bootstrap/request.js';
import { consoleRoutes } from '../../shared/console/routes.js';
import { collections } from '../../shared/names.js';
import { Name, type Organization } from '../../shared/organization/organization.js';
import { hiddenTexts, plainTexts } from '../support/hidden-text.js';
import { useOrganizations } from './organizations-world.js';

interface Place {
  readonly name: string;
  readonly schema: z.ZodType;
}

/** What no other person reads as text, and why. */
const apart: Readonly<Record<string, string>> = {
  'header.if-match': 'an ETag, compared and shown to nobody',
  'header.cookie': 'of the browser, opened with a key',
  'header.origin': 'compared with one origin',
  'header.accept-encoding': 'of the browser',
  'header.last-event-id': 'a number, read as one',
  'query.cursor': 'sealed by the service, and opened with its key',
  'query.state': 'compared with what is sealed',
  'query.code': 'of the issuer, and sent there alone',
  'query.error': 'of the issuer, and shown to the one who signs in',
  'path.file': 'compared with the names of the files of the page',
  'base.dc1.config': 'a file of the caller, for themselves',
  'base.dc1.secrets': 'a file of the caller, for themselves',
  'base.dc2.config': 'a file of the caller, for themselves',
  'base.dc2.secrets': 'a file of the caller, for themselves',
  'body.ttl': 'read as a duration',
  'body.vms': 'compared with the names of the VMs',
  'path.instance': 'compared with the ids of the instances',
  'query.instance': 'compared with the ids of the instances',
  'listBootstraps query.name': 'compared with the names of projects',
  'path.project': 'compared with the names of projects',
};

/** The places beneath a schema that hold text. */
function textsIn(schema: z.ZodType, name: string): Place[] {
  const { def } = schema as unknown as { def: Readonly<Record<string, unknown>> & { type: string } };
  const inner = (key: string) => textsIn(def[key] as z.ZodType, name);
  switch (def.type) {
    case 'string':
      return [{ name, schema }];
    case 'object':
      return Object.entries(def['shape'] as Readonly<Record<string, z.ZodType>>).flatMap(([key, of]) =>
        textsIn(of, `${name}.${key}`),
      );
    case 'array':
      return textsIn(def['element'] as z.ZodType, name);
    case 'record':
      return [...textsIn(def['keyType'] as z.ZodType, name), ...textsIn(def['valueType'] as z.ZodType, name)];
    case 'union':
      return (def['options'] as z.ZodType[]).flatMap((each) => textsIn(each, name));
    case 'pipe':
      // What comes in is text, and what comes of it may refuse it.
      return inner('in').map((place) => ({ name: place.name, schema }));
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return inner('innerType');
    case 'number':
    case 'int':
    case 'boolean':
    case 'enum':
    case 'literal':
    case 'undefined':
      return [];
    default:
      throw new Error(`${name}: nobody has said where text may be in ${def.type}`);
  }
}

const placesOf = (routes: RouteTable): Place[] =>
  Object.entries(routes).flatMap(([operation, { params, query, headers, body }]) =>
    Object.entries({ path: params, query, header: headers, body }).flatMap(([where, schema]) =>
      schema === undefined ? [] : textsIn(schema, `${operation} ${where}`),
    ),
  );

/** The rules judge the options of a request, after its form. */
const isOption = ({ name }: Place): boolean => / body\.options\./.test(name);
const optionPlaces = optionNames.flatMap((option): Place[] =>
  isLocal(option) || isSecret(option)
    ? []
    : textsIn(flagOf(option).file ? fieldOf(option) : flagOf(option).schema, `options.${option}`),
);

const places = [bootstrapsApi.routes, organizationsApi.routes, consoleRoutes]
  .flatMap(placesOf)
  .filter((place) => !isOption(place));

const isNamed =
  (each: string) =>
  ({ name }: Place): boolean =>
    name === each || name.endsWith(` ${each}`) || name.endsWith(`.${each}`);

/** The text alone, and within what the place takes. */
const triesOf = ({ schema }: Place, text: string): string[] => {
  const { examples = [] } = (schema.meta() ?? {}) as { readonly examples?: readonly unknown[] };
  const good = [...examples.filter((each) => typeof each === 'string'), `name@sha256:${'0'.repeat(64)}:1`];
  return [text, ...good.flatMap((each) => [`${each.slice(0, 2)}${text}${each.slice(2)}`])];
};

describe('text of other people', () => {
  it('is looked at in every place of both APIs, and nothing that is not seen comes through', () => {
    const looked = [...places, ...optionPlaces].filter(
      (place) => !Object.keys(apart).some((each) => isNamed(each)(place)),
    );
    const open = looked.flatMap((place) => {
      const through = hiddenTexts.filter(([, text]) =>
        triesOf(place, text).some((each) => place.schema.safeParse(each).success),
      );
      return through.length === 0 ? [] : [`${place.name}: ${through.map(([title]) => title).join(', ')}`];
    });
    expect(open.join('\n')).to.equal('');
  });

  it('is left out only where a place says why', () => {
    const unused = Object.keys(apart).filter((each) => !places.some(isNamed(each)));
    expect(unused).to.deep.equal([]);
  });

  describe('in the name of an organization', () => {
    const store = createMemoryStore();
    const world = useOrganizations({ open: async () => store });
    const create = (name: string) => world.server.expect<Organization>(201, 'createOrganization', { body: { name } });

    it('is refused with anything that is not seen, and the code point is named', () => {
      for (const [title, text, point] of hiddenTexts) {
        const { error } = Name.safeParse(text);
        expect(error?.issues.map(({ message }) => message).join(), title).to.include(point);
      }
    });

    it('is kept in one spelling', () => {
      for (const [title, text, kept] of plainTexts) expect(Name.parse(text), title).to.equal(kept);
    });

    it('is refused and kept so by the service, which names the field', async () => {
      const { errors } = await world.refused('bad-input', 'createOrganization', { body: { name: 'ac\u202eme' } });
      expect(errors?.map(({ path }) => path)).to.deep.equal(['name']);
      expect(errors?.[0]?.message).to.include('U+202E');
      expect((await create(' Mu\u0308ller ')).name).to.equal('M\u00fcller');
    });

    it('is shown as it stands, where an earlier release let it in', async () => {
      const { id } = await create('acme');
      const stood = await store.get(collections.organizations, id);
      const data = { ...stood?.data, name: 'ac\u202eme' };
      await store.commit([{ kind: 'set', collection: collections.organizations, id, data }]);
      const shown = await world.server.expect<Organization>(200, 'getOrganization', { params: { organizationId: id } });
      expect(shown.name).to.equal('ac\u202eme');
    });
  });
});
