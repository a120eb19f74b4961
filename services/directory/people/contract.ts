/** People of the open API (rules/people#people). */
import { byUsers, rpc, Type, type Static } from '#libs/contract';
import { anyId, extend, jsonDocument, listParameters, nullable, pageFields, searchText, timestamps, v1Errors } from '../fields.ts';

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

export const personListQuery = Type.Object({
  q: searchText('Part of the name; case and accents do not count, `%` and `_` are literals.'),
  ...listParameters,
});
export type PersonListQuery = Static<typeof personListQuery>;

/** To be spread into the contract of the directory. */
export const peopleRpcs = {
  listPeople: rpc({
    subject: 'directory.people.list',
    callers: byUsers,
    summary: 'People by a part of their name (rules/people#people).',
    request: personListQuery,
    reply: Type.Object({ query: Type.String(), ...pageFields, items: Type.Array(PersonListItem) }),
    errors: v1Errors.validation('`sort` is none of the orders.'),
  }),
  getPerson: rpc({
    subject: 'directory.people.get',
    callers: byUsers,
    summary: 'One person (rules/people#people).',
    request: Type.Object({ person_id: anyId('Id of the person.') }),
    reply: PersonPublic,
  }),
} as const;
