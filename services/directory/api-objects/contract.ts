/**
 * Schemas that several features share: ids, paging, error reasons and the objects of the open API
 * (rules/memberships#membership-lists; D47, D47a).
 */
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
} from '#libs/infrastructure/contract';

export const jsonObject = Type.Record(Type.String(), Type.Unknown());
export const jsonDocument = (description: string) => Type.Object({}, { additionalProperties: true, description });
export const instant = (description: string) => Type.String({ format: 'date-time', description });

/** Schema of an id in a path or filter. Out-of-range ids match nothing (rules/http#ids). */
export const anyId = (description: string) => Type.Integer({ description });

export { limitParameter, rowId };
/** Ids of one call. Callers split longer lists. */
export const idList = Type.Array(rowId, { maxItems: 10_000 });

/** Maximum length of names of people and holons, in characters. */
export const maxNameLength = 500;
/** Maximum length of stored descriptions (HTML), in characters. */
export const maxDescriptionLength = 100_000;
/** Maximum length of a channel name, such as `email`, in characters. */
export const maxChannelLength = 100;
/** Maximum length of a note, in characters. */
export const maxNoteLength = 100_000;

/** Whether the text exceeds the length, counted in code points as JSON Schema does. */
export function isLonger(text: string, characters: number): boolean {
  if (text.length <= characters) return false;
  if (text.length > 2 * characters) return true;
  let pairs = 0;
  for (let index = 0; index < text.length; index++) if ((text.codePointAt(index) ?? 0) > 0xffff) pairs++;
  return text.length - pairs > characters;
}

/** Schema of a search text, which has the maximum length of names. */
export const searchText = (description: string, options: Readonly<Record<string, unknown>> = {}) =>
  Type.String({ maxLength: 500, ...options, description });

const offsetRange = { minimum: 0, maximum: 2_147_483_647, default: 0 };
export const offsetParameter = Type.Optional(
  Type.Integer({ ...offsetRange, description: 'Items to skip. Add `limit` until `has_more` is false.' }),
);
/** Offset for lists that return `count` but not `has_more`. */
export const countedOffsetParameter = Type.Optional(
  Type.Integer({ ...offsetRange, description: 'Items to skip. Add `limit` until it reaches `count`.' }),
);

/** Common fields of paged lists. */
export const pageFields = {
  count: Type.Integer({ minimum: 0, description: 'Total number of matches.' }),
  limit: Type.Integer({ minimum: 1 }),
  offset: Type.Integer({ minimum: 0 }),
  has_more: Type.Boolean({ description: 'Whether more matches follow.' }),
};

/** Reply of a paged list: `{count, limit, offset, has_more, items}`. */
export function page<Item extends TSchema>(item: Item) {
  return Type.Object({ ...pageFields, items: Type.Array(item) });
}

/** Schema of a date filter: an exclusive lower bound. An instant without an offset is read as UTC. */
const afterParameter = (what: string) =>
  Type.Optional(
    Type.String({
      format: 'date-time',
      description: `${what} strictly after this instant. Without an offset it is UTC.`,
    }),
  );

/** Sort, date filter and paging parameters of the lists of people and holons. */
export const listParameters = {
  sort: Type.Optional(
    Type.String({
      default: 'name',
      choices: ['name', 'latest', 'updated'],
      description: '`name` (default), `latest` (newest first) or `updated` (last changed first).',
    }),
  ),
  created_after: afterParameter('Created'),
  updated_after: afterParameter('Changed'),
  limit: limitParameter({ usual: 100, most: 100 }),
  offset: offsetParameter,
};

export const timestamps = {
  created_at: instant('Creation time.'),
  updated_at: instant('Time of the last change.'),
};

/** Returns an object schema with more fields and another name in the API document. */
export function extend<Base extends TProperties, Extra extends TProperties>(
  base: TObject<Base>,
  extra: Extra,
  options: { $id: string; description: string },
) {
  return Type.Object({ ...base.properties, ...extra }, options);
}

/** Field for the `If-Match` header of conditional updates (I2). */
export const ifMatch = { if_match: Type.Optional(nullable(Type.String({ description: 'The `If-Match` header.' }))) };

/** Error reasons of v1 operations (rules/http#error-envelopes). */
export const v1Errors = {
  precondition: {
    precondition_failed: { code: 'precondition_failed', when: '`If-Match` does not match the current representation.' },
  } satisfies ErrorReasons,
  validation: (when: string): ErrorReasons => ({ bad_request: { code: 'bad_request', when } }),
  notFound: (when: string): ErrorReasons => ({ not_found: { code: 'not_found', when } }),
  denied: (when: string): ErrorReasons => ({ permission_denied: { code: 'permission_denied', when } }),
};

/**
 * Returns the request with every field of the query schema; absent fields are undefined. For statements whose
 * parameters have the names of the query.
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
  description: 'A person, in lists and search results.',
});

export const HolonPublic = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    slug: Type.String(),
    type: Type.String({ description: 'Slug of the class. Classes absent from the class list are retired.' }),
    description: Type.String({ description: 'Rich text, possibly empty.' }),
    parent_id: nullable(
      Type.Integer({ description: 'Null at the top of the tree, and when the caller cannot see the parent.' }),
    ),
    logo_url: nullable(Type.String({ description: 'URL of the logo.' })),
    links: jsonDocument('Link values by channel, possibly empty.'),
  },
  { $id: 'HolonPublic', description: 'A group, event or other entity of the network.' },
);

export const HolonDetail = extend(
  HolonPublic,
  {
    info_fields: Type.Optional(
      jsonDocument(
        "Values by key of the class's `info_field_groups`. Only for callers who can edit the holon, like the next three fields.",
      ),
    ),
    locations: Type.Optional(Type.Array(Type.String(), { description: 'Countries as ISO 3166-1 alpha-2 codes.' })),
    spheres: Type.Optional(Type.Array(Type.Integer(), { description: 'Ids of spheres.' })),
    journey_ids: Type.Optional(Type.Array(Type.Integer(), { description: 'Journeys of the holon itself, in order.' })),
  },
  { $id: 'HolonDetail', description: 'A holon, with more fields for callers who can edit it.' },
);

export const HolonListItem = extend(HolonPublic, timestamps, {
  $id: 'HolonListItem',
  description: 'A holon, in lists and search results.',
});

/** A note (rules/memberships#notes). `author_person` is null for system notes. */
export const NoteItem = Type.Object(
  {
    id: Type.Integer(),
    body: Type.String(),
    note_type: Type.String({
      description:
        'E.g. `note`, `system`, `booking` or `booking_error`; more can be added. Notes created through this API are always `note`.',
    }),
    created_at: instant('Creation time.'),
    author_person: nullable(PersonPublic),
  },
  { $id: 'NoteItem', description: 'A note.' },
);

/** Account and rights, as the gateway sends them in the `Actor` header. */
export const actorFacts = {
  kind: Type.Literal('user'),
  accountId: rowId,
  email: Type.String(),
  personId: nullable(rowId),
  superuser: Type.Boolean(),
  globalEditor: Type.Boolean(),
  coherenceAccess: Type.Boolean({
    description: 'Superuser or member of `coherence_users` (rules/access#classes-of-routes).',
  }),
  workspaceEditor: Type.Optional(Type.Boolean({ description: 'Superuser or member of `workspace_editors` (W5).' })),
  chatAgent: Type.Optional(Type.Boolean({ description: 'Superuser or member of `chat_agents` (W7).' })),
  ops: Type.Optional(
    nullable(
      Type.Enum(['read', 'act'], {
        description: 'Access to operations: `act` for superusers and `ops_operators`, `read` for `ops_viewers`.',
      }),
    ),
  ),
};
