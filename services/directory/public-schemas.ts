/** The objects that the open API shows again and again; `public-json.ts` has their SQL (rules/memberships#membership-lists; D47a). */
import { nullable, Type } from '#libs/contract';
import { extend, instant, jsonDocument, timestamps } from './fields.ts';

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
