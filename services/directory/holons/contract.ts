/** Holons: lists, updates, and who sees which (rules/holons#holons, rules/holons#update-a-holon; D18f, D46a to D49). */
import { anyActor, byOperators, byUsers, singleLine, nullable, withoutActor, rpc, type Static, Type } from '#libs/contract';
import {
  anyId,
  HolonListItem,
  HolonPublic,
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
      'Part of the name or description; case and accents do not count. Of a description the first 10,000 characters count. Needed without `class`.',
    ),
  ),
  class: Type.Optional(
    Type.String({ description: 'Slug of an active class: holons of it and of every class below it. Needed without `q`.' }),
  ),
  parent: Type.Optional(anyId('Only children of this holon.')),
  ...listParameters,
});
export type HolonListQuery = Static<typeof holonListQuery>;

/** Fields of an update; absent ones are not touched. */
export const holonUpdate = Type.Object(
  {
    name: Type.Optional(
      singleLine({ maxLength: maxNameLength, description: 'Trimmed; not blank. Refused when the class marks names as read-only.' }),
    ),
    description: Type.Optional(
      Type.String({ maxLength: maxDescriptionLength, description: "Rich text; sanitised with the web editor's allowlist." }),
    ),
    links: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: Type.String({ maxLength: 2_000 }),
          propertyNames: singleLine({ maxLength: maxChannelLength }),
          maxProperties: 100,
          description: 'Links by channel, http, https, mailto or tel; replaces all. Blank values are dropped.',
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
            "Values by key of the class's `info_field_groups`; null takes one away. select and multi_select take lists of texts, and values that are no options are dropped.",
        },
      ),
    ),
    journey_ids: Type.Optional(
      Type.Array(Type.Integer(), {
        maxItems: 1_000,
        description: 'Journeys of the holon, in order; replaces all. Needs global edit access.',
      }),
    ),
  },
  { $id: 'HolonUpdate' },
);
export type HolonUpdate = Static<typeof holonUpdate>;

const change = Type.Object({ old: Type.Unknown(), new: Type.Unknown() }, { $id: 'FieldChange' });
const changes = Type.Object(
  {
    name: Type.Optional(change),
    description: Type.Optional(change),
    links: Type.Optional(change),
    locations: Type.Optional(change),
    spheres: Type.Optional(change),
    info_fields: Type.Optional(change),
    journey_ids: Type.Optional(change),
  },
  { $id: 'HolonChanges', description: 'Only fields that changed, as old and new; of `info_fields` only the keys that changed.' },
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

const holonList = {
  request: holonListQuery,
  reply: Type.Object({
    query: nullable(Type.String()),
    class: nullable(Type.String()),
    parent: nullable(Type.Integer()),
    ...pageFields,
    items: Type.Array(HolonListItem),
  }),
  errors: v1Errors.validation('Neither `q` nor `class` is given, `class` is no active class, or `sort` is none of the orders.'),
};

const subtree = {
  request: Type.Object({ slug: Type.String() }),
  reply: Type.Object({
    found: Type.Boolean({ description: 'False when no holon has the slug or the caller may not see it: answer 404 in both cases.' }),
    holon_id: nullable(rowId),
    ids: Type.Array(rowId, {
      description: 'Visible ones, the holon itself included, ascending. Not only events: class and owner may change.',
    }),
  }),
};

/** To be spread into the contract of the directory. */
export const holonRpcs = {
  getHolons: rpc({
    subject: 'directory.holons.get-many',
    callers: { conversations: withoutActor, cli: withoutActor },
    summary: 'Holons by id or slug; unknown ones are absent.',
    request: Type.Object({ ids: Type.Optional(idList), slugs: Type.Optional(Type.Array(Type.String(), { maxItems: 10_000 })) }),
    reply: Type.Object({ items: Type.Array(holon) }),
  }),
  listHolons: rpc({
    subject: 'directory.holons.list',
    callers: byUsers,
    summary: 'Holons by text, class and parent, as far as the caller may see them (rules/holons#holons).',
    ...holonList,
  }),
  searchHolons: rpc({
    subject: 'admin.directory.holons.search',
    callers: byOperators,
    summary: 'Holons by text, class and parent, private ones too.',
    ...holonList,
  }),
  getHolon: rpc({
    subject: 'directory.holons.get',
    callers: byUsers,
    summary: 'One holon (rules/holons#holons).',
    request: Type.Object({ holon_id: anyId('Id of the holon.') }),
    reply: HolonPublic,
  }),
  getHolonBySlug: rpc({
    subject: 'directory.holons.get-by-slug',
    callers: byUsers,
    summary: 'One holon by its slug (rules/holons#holons).',
    request: Type.Object({ slug: Type.String({ description: 'Slug of the holon.' }) }),
    reply: HolonPublic,
  }),
  updateHolon: rpc({
    subject: 'directory.holons.update',
    callers: byUsers,
    idempotent: true,
    summary: 'Edits fields of a holon, all or none (rules/holons#update-a-holon).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...holonUpdate.properties, ...ifMatch }),
    reply: Type.Object({ holon: HolonPublic, changes }),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.validation('A field has a value that it cannot have; the message says which.'),
      ...v1Errors.denied('The caller may not edit the holon, or sets `journey_ids` without global edit access.'),
      ...v1Errors.notFound('No such holon, or none that the caller may see.'),
    },
  }),
  holonSubtree: rpc({
    subject: 'directory.holons.subtree',
    callers: { conversations: anyActor },
    summary: 'A holon and its descendants as far as the caller may see them (D18f); for filters by ownership and participation.',
    ...subtree,
  }),
  wholeSubtree: rpc({
    subject: 'directory.holons.whole-subtree',
    callers: { conversations: withoutActor },
    summary: 'A holon and all its descendants; for filters of the admin CLI.',
    ...subtree,
  }),
  visibleHolons: rpc({
    subject: 'directory.holons.visible',
    callers: { conversations: withoutActor },
    summary:
      'Which of these holons exist and may be seen by an account, or by the shared token (D18f, D48). Asked all along a streamed answer, which may take longer than what vouches for its reader lives.',
    request: Type.Object({
      account_id: nullable(Type.Integer({ description: 'Whose eyes; null = the shared token.' })),
      ids: Type.Optional(Type.Array(Type.Integer(), { maxItems: 20_000 })),
      slugs: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000 })),
    }),
    reply: Type.Object({ items: Type.Array(Type.Object({ id: rowId, slug: Type.String() }), { description: 'By id, once each.' }) }),
  }),
  coveredHolons: rpc({
    subject: 'directory.holons.covered',
    callers: { conversations: withoutActor },
    summary:
      "Holons that an account's active team authority covers (D49), of those named or of all. What a global editor has besides is not among them.",
    request: Type.Object({ account_id: rowId, ids: Type.Optional(Type.Array(rowId, { maxItems: 20_000 })) }),
    reply: Type.Object({ ids: Type.Array(rowId, { description: 'Ascending.' }) }),
  }),
} as const;
