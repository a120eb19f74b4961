/** Editing of holons through the open API (rules/holons#update-a-holon; D46a, D46b). */
import { byUsers, line, rpc, Type, type Static } from '#libs/contract';
import { anyId, v1Errors } from '../fields.ts';
import { HolonPublic } from '../holons/contract.ts';
import { maxChannelLength, maxDescriptionLength, maxNameLength } from './people-write.ts';

/** Fields of an update; absent ones are not touched. */
export const holonUpdate = Type.Object(
  {
    name: Type.Optional(
      line({ maxLength: maxNameLength, description: 'Trimmed; not blank. Refused when the class marks names as read-only.' }),
    ),
    description: Type.Optional(
      Type.String({ maxLength: maxDescriptionLength, description: "Rich text; sanitised with the web editor's allowlist." }),
    ),
    links: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: Type.String({ maxLength: 2_000 }),
          propertyNames: line({ maxLength: maxChannelLength }),
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

/** To be spread into the contract of the directory. */
export const holonUpdateRpcs = {
  updateHolon: rpc({
    subject: 'directory.holons.update',
    callers: byUsers,
    summary: 'Edits fields of a holon, all or none (rules/holons#update-a-holon).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...holonUpdate.properties }),
    reply: Type.Object({ holon: HolonPublic, changes }),
    errors: {
      ...v1Errors.validation('A field has a value that it cannot have; the message says which.'),
      ...v1Errors.denied('The caller may not edit the holon, or sets `journey_ids` without global edit access.'),
      ...v1Errors.notFound('No such holon, or none that the caller may see.'),
    },
  }),
} as const;
