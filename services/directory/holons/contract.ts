/** Holons of the open API (rules/holons#holons). */
import { byUsers, rpc, Type, type Static } from '#libs/contract';
import { anyId, extend, jsonDocument, listParameters, nullable, pageFields, searchText, timestamps, v1Errors } from '../fields.ts';

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

/** To be spread into the contract of the directory. */
export const holonRpcs = {
  listHolons: rpc({
    subject: 'directory.holons.list',
    callers: byUsers,
    summary: 'Holons by text, class and parent, as far as the caller may see them (rules/holons#holons).',
    request: holonListQuery,
    reply: Type.Object({
      query: nullable(Type.String()),
      class: nullable(Type.String()),
      parent: nullable(Type.Integer()),
      ...pageFields,
      items: Type.Array(HolonListItem),
    }),
    errors: v1Errors.validation('Neither `q` nor `class` is given, `class` is no active class, or `sort` is none of the orders.'),
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
} as const;
