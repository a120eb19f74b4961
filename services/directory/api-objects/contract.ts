/** Schemas that several features share: ids, paging, error reasons and the objects of the open API (rules/memberships#membership-lists; D47, D47a). */
import {
  type ErrorReasons,
  limitParameter,
  nullable,
  rowId,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '#libs/contract';

export const jsonObject = Type.Record(Type.String(), Type.Unknown());
export const jsonDocument = (description: string) => Type.Object({}, { additionalProperties: true, description });
export const instant = (description: string) => Type.String({ format: 'date-time', description });

/** Id in a path or a filter: one that no row can have finds nothing (rules/http#ids). */
export const anyId = (description: string) => Type.Integer({ description });

export { limitParameter, rowId };
/** Ids asked for in one call; whoever needs more asks again. */
export const idList = Type.Array(rowId, { maxItems: 10_000 });

/** Longest name of a person or holon, in characters. */
export const maxNameLength = 500;
/** Longest description, in characters of HTML as it is stored. */
export const maxDescriptionLength = 100_000;
/** Longest name of a channel, such as `email`, in characters. */
export const maxChannelLength = 100;
/** Longest note, in characters. */
export const maxNoteLength = 100_000;

/** Whether a text has more characters than that, counted as JSON Schema does: one of two units counts once. */
export function isLonger(text: string, characters: number): boolean {
  if (text.length <= characters) return false;
  if (text.length > 2 * characters) return true;
  let pairs = 0;
  for (let index = 0; index < text.length; index++) if ((text.codePointAt(index) ?? 0) > 0xffff) pairs++;
  return text.length - pairs > characters;
}

/** Text of a search; names have no more characters. */
export const searchText = (description: string, options: Readonly<Record<string, unknown>> = {}) =>
  Type.String({ maxLength: 500, ...options, description });

const place = { minimum: 0, maximum: 2_147_483_647, default: 0 };
export const offsetParameter = Type.Optional(
  Type.Integer({ ...place, description: 'Items before the page. Add `limit` until `has_more` is false.' }),
);
/** Of a list that tells `count` alone. */
export const placeParameter = Type.Optional(
  Type.Integer({ ...place, description: 'Items before the page. Add `limit` until it is `count`.' }),
);

/** Fields that every paged list has beside its items. */
export const pageFields = {
  count: Type.Integer({ minimum: 0, description: 'Matches in total, not only those of the page.' }),
  limit: Type.Integer({ minimum: 1 }),
  offset: Type.Integer({ minimum: 0 }),
  has_more: Type.Boolean({ description: 'True when matches follow after the page.' }),
};

/** `{count, limit, offset, has_more, items}` of a list. */
export function page<Item extends TSchema>(item: Item) {
  return Type.Object({ ...pageFields, items: Type.Array(item) });
}

/** A strictly-after filter. Without an offset it is read as UTC. */
const afterParameter = (what: string) =>
  Type.Optional(Type.String({ format: 'date-time', description: `${what} strictly after this instant. Without an offset it is UTC.` }));

/** How a list of people or holons is sorted, narrowed to what is new, and cut into pages. */
export const listParameters = {
  sort: Type.Optional(
    Type.String({
      default: 'name',
      choices: ['name', 'latest', 'updated'],
      description: '`name` (default), `latest` (created last first) or `updated` (changed last first).',
    }),
  ),
  created_after: afterParameter('Created'),
  updated_after: afterParameter('Changed'),
  limit: limitParameter({ usual: 100, most: 100 }),
  offset: offsetParameter,
};

export const timestamps = {
  created_at: instant('When the record was created.'),
  updated_at: instant('When the record was last changed.'),
};

/** The same object under another name of the document, with more fields. */
export function extend<Base extends TProperties, Extra extends TProperties>(
  base: TObject<Base>,
  extra: Extra,
  options: { $id: string; description: string },
) {
  return Type.Object({ ...base.properties, ...extra }, options);
}

/** Of the request of an update that may be made conditional (I2). */
export const ifMatch = { if_match: Type.Optional(nullable(Type.String({ description: 'The header If-Match.' }))) };

/** What v1 operations may refuse with, in the words of the document (rules/http#error-envelopes). */
export const v1Errors = {
  precondition: {
    precondition_failed: { code: 'precondition_failed', when: '`If-Match` names another representation.' },
  } satisfies ErrorReasons,
  validation: (when: string): ErrorReasons => ({ bad_request: { code: 'bad_request', when } }),
  notFound: (when: string): ErrorReasons => ({ not_found: { code: 'not_found', when } }),
  denied: (when: string): ErrorReasons => ({ permission_denied: { code: 'permission_denied', when } }),
};

/**
 * What a caller asks for, with every field of the query's schema, undefined where the caller says nothing: a statement whose parameters have the
 * names of the query takes it as it is.
 */
export function everyField<Properties extends TProperties>(
  query: TObject<Properties>,
  request: Partial<Static<TObject<Properties>>>,
): { readonly [Name in keyof Static<TObject<Properties>>]-?: Static<TObject<Properties>>[Name] | undefined } {
  const absent = Object.fromEntries(Object.keys(query.properties).map((name) => [name, undefined]));
  return { ...absent, ...request } as ReturnType<typeof everyField<Properties>>;
}

export const PersonPublic = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    description: Type.String({ description: 'Rich text, possibly empty.' }),
    photo_url: nullable(Type.String()),
    actor_kind: Type.String({ description: 'For example `human`.' }),
    contact: jsonDocument('Contact values by channel, such as `email`, `phone`, `linkedin`; possibly empty.'),
  },
  { $id: 'PersonPublic', description: 'A person of the shared directory.' },
);

export const PersonListItem = extend(PersonPublic, timestamps, {
  $id: 'PersonListItem',
  description: 'A person in lists and search results.',
});

export const HolonPublic = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    slug: Type.String(),
    type: Type.String({ description: 'Slug of the class; one that the class list does not have is retired.' }),
    description: Type.String({ description: 'Rich text, possibly empty.' }),
    parent_id: nullable(Type.Integer({ description: 'Null at the top of the tree, and when the caller may not see the parent.' })),
    logo_url: nullable(Type.String({ description: 'Address of the logo.' })),
    links: jsonDocument('Link values by channel, possibly empty.'),
  },
  { $id: 'HolonPublic', description: 'A group, event or other entity of the network.' },
);

export const HolonListItem = extend(HolonPublic, timestamps, {
  $id: 'HolonListItem',
  description: 'A holon in lists and search results.',
});

/** Note item of rules/memberships#notes. `author_person` is null for notes written by the system. */
export const NoteItem = Type.Object(
  {
    id: Type.Integer(),
    body: Type.String(),
    note_type: Type.String({ description: 'Open list: note, system, booking, booking_error, …; through this API always `note`.' }),
    created_at: instant('When it was written.'),
    author_person: nullable(PersonPublic),
  },
  { $id: 'NoteItem', description: 'A note.' },
);

/** Who an account is and what it may do, as the gateway puts it in the `Actor` header. */
export const actorFacts = {
  kind: Type.Literal('user'),
  accountId: rowId,
  email: Type.String(),
  personId: nullable(rowId),
  superuser: Type.Boolean(),
  globalEditor: Type.Boolean(),
  coherenceAccess: Type.Boolean({ description: 'Superuser or member of `coherence_users` (rules/access#classes-of-routes).' }),
  ops: Type.Optional(
    nullable(
      Type.Enum(['read', 'act'], {
        description: 'What it may do with operations: superusers and `ops_operators` act, `ops_viewers` read.',
      }),
    ),
  ),
};
