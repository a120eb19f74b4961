/** Read operations on classes of the open API (rules/journeys#classes). */
import { byUsers, nullable, rpc, Type } from '#libs/infrastructure/contract';
import { JourneyListItem } from '../journeys/contract.ts';

const infoField = Type.Object(
  {
    key: Type.String({ description: 'Key of `info_fields` and of the stored infos.' }),
    type: Type.String({
      description: 'text, long_text, rich_text, select, multi_select, number, boolean, date, url, video or slideshow.',
    }),
    label: Type.Optional(Type.String()),
    options: Type.Optional(Type.Array(Type.Unknown(), { description: 'Choices of a select or multi_select.' })),
  },
  { $id: 'InfoField', additionalProperties: true, description: 'An info field.' },
);

export const ObjectClassPublic = Type.Object(
  {
    object_kind: Type.String({ description: 'For example `holon`.' }),
    slug: Type.String(),
    label: Type.String(),
    plural_label: Type.String(),
    description: Type.String({ description: 'May be empty.' }),
    sort_order: Type.Integer(),
    is_system: Type.Boolean(),
    is_active: Type.Boolean(),
    icon_url: nullable(Type.String()),
    config: Type.Object(
      {
        info_field_groups: Type.Optional(
          Type.Array(
            Type.Object(
              { key: Type.String(), label: Type.Optional(Type.String()), fields: Type.Optional(Type.Array(infoField)) },
              { $id: 'InfoFieldGroup', additionalProperties: true },
            ),
            { description: 'Always present for holon classes: groups of info fields of their holons.' },
          ),
        ),
      },
      { $id: 'ClassConfig', additionalProperties: true, description: 'Configuration of the class.' },
    ),
    journeys: Type.Array(JourneyListItem, {
      description:
        'Effective catalogue: journeys of the class, then of its ancestors, nearest first, each in catalogue order.',
    }),
    parent: nullable(Type.String({ description: 'Slug of the parent class.' })),
    conversation_event: Type.Boolean({ description: 'Its holons are conversation events.' }),
    private: Type.Boolean({ description: 'Marked as private itself; subclasses of a private class are private too.' }),
    name_read_only: Type.Boolean({ description: 'Marked itself; subclasses inherit it.' }),
    allowed_children: Type.Array(Type.String(), { description: 'Slugs of classes of direct children.' }),
    own_journeys: Type.Array(Type.String(), { description: 'Slugs of the journeys of the class itself.' }),
    own_config: Type.Object({}, { additionalProperties: true, description: '`config` without inherited info fields.' }),
  },
  {
    $id: 'ObjectClassPublic',
    description: 'A class of objects.',
    examples: [
      {
        object_kind: 'holon',
        slug: 'workshop',
        label: 'Workshop',
        plural_label: 'Workshops',
        description: '',
        sort_order: 41,
        is_system: false,
        is_active: true,
        icon_url: null,
        config: {
          info_field_groups: [
            {
              key: 'practical',
              label: 'Practical',
              fields: [
                { key: 'motto', type: 'text', label: 'Motto' },
                { key: 'summary', type: 'long_text', label: 'Summary' },
                { key: 'programme', type: 'rich_text', label: 'Programme' },
                { key: 'theme', type: 'select', label: 'Theme', options: ['listening', 'care'] },
                { key: 'languages', type: 'multi_select', label: 'Languages', options: ['English', 'German'] },
                { key: 'seats', type: 'number', label: 'Seats' },
                { key: 'outdoors', type: 'boolean', label: 'Outdoors' },
                { key: 'starts_on', type: 'date', label: 'Starts on' },
                { key: 'homepage', type: 'url', label: 'Home page' },
                { key: 'trailer', type: 'video', label: 'Trailer' },
                { key: 'pictures', type: 'slideshow', label: 'Pictures' },
              ],
            },
          ],
        },
        journeys: [],
        parent: 'experience',
        conversation_event: false,
        private: false,
        name_read_only: false,
        allowed_children: [],
        own_journeys: [],
        own_config: {},
      },
    ],
  },
);

export const classRpcs = {
  listClasses: rpc({
    subject: 'directory.classes.list',
    callers: byUsers,
    summary: 'Lists active classes with their effective catalogues (rules/journeys#classes).',
    request: Type.Object({ object_kind: Type.Optional(Type.String({ description: 'For example `holon`.' })) }),
    reply: Type.Array(ObjectClassPublic),
  }),
  getClass: rpc({
    subject: 'directory.classes.get',
    callers: byUsers,
    summary: 'Returns an active class (rules/journeys#classes).',
    request: Type.Object({
      object_kind: Type.String({ description: 'For example `holon`.' }),
      slug: Type.String({ description: 'Slug of the class.' }),
    }),
    reply: ObjectClassPublic,
  }),
} as const;
