/**
 * Operations on holons: lists, updates and visibility (rules/holons#holons, rules/holons#update-a-holon; D18f, D46a to
 * D49).
 */
import {
  anyActor,
  byUsers,
  singleLine,
  nullable,
  withoutActor,
  rpc,
  type Static,
  Type,
} from '#libs/infrastructure/contract';
import { FieldChange } from '#libs/product/history';
import {
  anyId,
  HolonDetail,
  HolonListItem,
  idList,
  ifMatch,
  listParameters,
  maxChannelLength,
  maxDescriptionLength,
  maxNameLength,
  pageFields,
  rowId,
  searchText,
  v1Errors,
} from '../api-objects/contract.ts';

export const holonListQuery = Type.Object({
  q: Type.Optional(
    searchText(
      'Part of the name or description, ignoring case and accents. Searches the first 10,000 characters of descriptions. Required without `class`.',
    ),
  ),
  class: Type.Optional(
    Type.String({ description: 'Slug of an active class; includes holons of its subclasses. Required without `q`.' }),
  ),
  parent: Type.Optional(anyId('Only children of this holon.')),
  ...listParameters,
});
export type HolonListQuery = Static<typeof holonListQuery>;

/** Fields that creation and update share. */
const holonFields = {
  description: Type.Optional(
    Type.String({
      maxLength: maxDescriptionLength,
      description: "Rich text, sanitised with the web editor's allowlist.",
    }),
  ),
  links: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: Type.String({ maxLength: 2_000 }),
        propertyNames: singleLine({ maxLength: maxChannelLength }),
        maxProperties: 100,
        description: 'Links by channel (http, https, mailto or tel). Replaces all links. Blank values are dropped.',
      },
    ),
  ),
  locations: Type.Optional(
    Type.Array(Type.String(), { maxItems: 300, description: 'Countries as ISO 3166-1 alpha-2 codes, in any case.' }),
  ),
  spheres: Type.Optional(Type.Array(Type.Integer(), { maxItems: 1_000, description: 'Ids of active spheres.' })),
  info_fields: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        maxProperties: 1_000,
        description:
          "Values by key of the class's `info_field_groups`; null removes a value. select and multi_select require lists of strings; unknown options are dropped.",
      },
    ),
  ),
  journey_ids: Type.Optional(
    Type.Array(Type.Integer(), {
      maxItems: 1_000,
      description: 'Journeys of the holon, in order. Replaces all journeys. Requires global edit access.',
    }),
  ),
};

const slug = singleLine({
  maxLength: 200,
  description: 'Letters, digits, `-`, `_`, `.` and `~`. Must be unique.',
});

/** Fields of an update. Absent fields remain unchanged. */
export const holonUpdate = Type.Object(
  {
    name: Type.Optional(
      singleLine({
        maxLength: maxNameLength,
        description:
          'Must not be blank. Leading and trailing whitespace is removed. Rejected when the class marks names as read-only.',
      }),
    ),
    ...holonFields,
    slug: Type.Optional(slug),
    parent_id: Type.Optional(
      nullable(
        Type.Integer({
          description:
            'Moves the holon below a holon whose class allows its class and where the caller can create it. Null moves it to the top of the tree, which requires global edit access.',
        }),
      ),
    ),
  },
  { $id: 'HolonUpdate' },
);
export type HolonUpdate = Static<typeof holonUpdate>;

export const newHolon = Type.Object(
  {
    name: singleLine({
      maxLength: maxNameLength,
      description: 'Must not be blank. Leading and trailing whitespace is removed.',
    }),
    class: singleLine({ description: 'Slug of an active class of holons.' }),
    parent_id: Type.Optional(
      nullable(
        Type.Integer({
          description:
            'The holon above. Required for callers without global edit access; its class must allow the class.',
        }),
      ),
    ),
    slug: Type.Optional(nullable(slug)),
    ...holonFields,
  },
  { $id: 'HolonCreate' },
);
export type NewHolon = Static<typeof newHolon>;

/** What refers to a holon and prevents its deletion. */
const holonUses = Type.Object(
  {
    children: Type.Integer({ description: 'Holons directly below.' }),
    memberships: Type.Integer(),
    relationships: Type.Integer(),
    conversations: Type.Integer({ description: 'Includes deleted conversations that can be restored (D67).' }),
  },
  { $id: 'HolonUses', description: 'Counts include objects that the caller cannot see.' },
);

/** Error for a holon that is in use. */
export const HolonInUse = Type.Object(
  {
    code: Type.Literal('in_use'),
    message: Type.String(),
    retryable: Type.Literal(false),
    counts: holonUses,
  },
  { $id: 'HolonInUse', description: 'Other objects depend on the holon; nothing was deleted.' },
);

const changes = Type.Object(
  {
    name: Type.Optional(FieldChange),
    slug: Type.Optional(FieldChange),
    parent_id: Type.Optional(FieldChange),
    description: Type.Optional(FieldChange),
    links: Type.Optional(FieldChange),
    locations: Type.Optional(FieldChange),
    spheres: Type.Optional(FieldChange),
    info_fields: Type.Optional(FieldChange),
    journey_ids: Type.Optional(FieldChange),
  },
  { $id: 'HolonChanges', description: 'Changed fields with old and new values; of `info_fields` only changed keys.' },
);

const holon = Type.Object({
  id: rowId,
  slug: Type.String(),
  name: Type.String(),
  type: Type.String({ description: 'Slug of the class, retired or not.' }),
  description: Type.String(),
  parent_id: nullable(rowId),
  private: Type.Boolean({ description: 'The class or an ancestor of it is private (D48).' }),
  conversation_event: Type.Boolean(),
});

const slugTaken = { slug_taken: { code: 'conflict', when: 'Another holon has the slug.' } } as const;

export const holonRpcs = {
  getHolons: rpc({
    subject: 'directory.holons.get-many',
    callers: { conversations: withoutActor, cli: withoutActor },
    summary: 'Returns holons by id or slug; unknown ones are skipped.',
    request: Type.Object({
      ids: Type.Optional(idList),
      slugs: Type.Optional(Type.Array(Type.String(), { maxItems: 10_000 })),
    }),
    reply: Type.Object({ items: Type.Array(holon) }),
  }),
  listHolons: rpc({
    subject: 'directory.holons.list',
    callers: byUsers,
    summary: 'Lists visible holons by text, class and parent (rules/holons#holons).',
    request: holonListQuery,
    reply: Type.Object({
      query: nullable(Type.String()),
      class: nullable(Type.String()),
      parent: nullable(Type.Integer()),
      ...pageFields,
      items: Type.Array(HolonListItem),
    }),
    errors: v1Errors.validation(
      'Both `q` and `class` are absent, `class` is not an active class, or `sort` is invalid.',
    ),
  }),
  getHolon: rpc({
    subject: 'directory.holons.get',
    callers: byUsers,
    summary: 'Returns a holon (rules/holons#holons).',
    request: Type.Object({ holon_id: anyId('Id of the holon.') }),
    reply: HolonDetail,
  }),
  getHolonBySlug: rpc({
    subject: 'directory.holons.get-by-slug',
    callers: byUsers,
    summary: 'Returns a holon by slug (rules/holons#holons).',
    request: Type.Object({ slug: Type.String({ description: 'Slug of the holon.' }) }),
    reply: HolonDetail,
  }),
  createHolon: rpc({
    subject: 'directory.holons.create',
    callers: byUsers,
    idempotent: true,
    summary: 'Creates a holon (rules/holons#create-and-delete; W2).',
    request: newHolon,
    reply: Type.Object({ holon: HolonDetail }),
    errors: {
      ...v1Errors.validation('A field is invalid, or `class` or `parent_id` does not exist.'),
      ...v1Errors.denied(
        'The caller has no global edit access, and cannot edit the parent, or its class does not allow the class, or `journey_ids` is set.',
      ),
      ...slugTaken,
    },
  }),
  deleteHolon: rpc({
    subject: 'directory.holons.delete',
    callers: byUsers,
    summary: 'Deletes a holon that nothing depends on (rules/holons#create-and-delete; W2).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...ifMatch }),
    reply: Type.Object({}),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.denied('The caller could not create the holon at its position.'),
      ...v1Errors.notFound('The holon does not exist, or the caller cannot see it.'),
      in_use: { code: 'conflict', when: 'Children, memberships, relationships or conversations depend on the holon.' },
    },
  }),
  updateHolon: rpc({
    subject: 'directory.holons.update',
    callers: byUsers,
    idempotent: true,
    summary: 'Updates a holon in one transaction (rules/holons#update-a-holon).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...holonUpdate.properties, ...ifMatch }),
    reply: Type.Object({ holon: HolonDetail, changes }),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.validation('A field is invalid; the message names it.'),
      ...v1Errors.denied(
        'The caller cannot edit the holon, sets `journey_ids` without global edit access, or cannot create it below the new parent.',
      ),
      ...slugTaken,
      ...v1Errors.notFound('The holon does not exist, or the caller cannot see it.'),
    },
  }),
  holonSubtree: rpc({
    subject: 'directory.holons.subtree',
    callers: { conversations: anyActor },
    summary: 'Lists a holon and its visible descendants (D18f), for filters by owner and participant.',
    request: Type.Object({ slug: Type.String() }),
    reply: Type.Object({
      found: Type.Boolean({
        description: 'False if the holon does not exist or the caller cannot see it; both return 404.',
      }),
      holon_id: nullable(rowId),
      ids: Type.Array(rowId, {
        description:
          'Visible holons including the holon itself, ascending. Includes holons that are not events, because classes and owners change.',
      }),
    }),
  }),
  visibleHolons: rpc({
    subject: 'directory.holons.visible',
    callers: { conversations: withoutActor },
    summary:
      'Filters holons to those that an account or the shared token can see (D18f, D48). Called throughout streamed replies, which can outlast the assertion of their reader.',
    request: Type.Object({
      account_id: nullable(Type.Integer({ description: 'Account whose visibility applies; null = shared token.' })),
      ids: Type.Optional(Type.Array(Type.Integer(), { maxItems: 20_000 })),
      slugs: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000 })),
    }),
    reply: Type.Object({
      items: Type.Array(Type.Object({ id: rowId, slug: Type.String() }), { description: 'By id, without duplicates.' }),
    }),
  }),
  coveredHolons: rpc({
    subject: 'directory.holons.covered',
    callers: { conversations: withoutActor },
    summary:
      "Lists holons covered by an account's active team authority (D49), among `ids` or all. Excludes rights of global editors.",
    request: Type.Object({ account_id: rowId, ids: Type.Optional(Type.Array(rowId, { maxItems: 20_000 })) }),
    reply: Type.Object({ ids: Type.Array(rowId, { description: 'Ascending.' }) }),
  }),
} as const;
