/**
 * Operations on people: lists, creation, and the people of booking attendees (rules/people#people,
 * rules/people#create-a-person; D19, D43, D43a, D44).
 */
import {
  byOperators,
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
  idList,
  ifMatch,
  jsonObject,
  listParameters,
  maxChannelLength,
  maxDescriptionLength,
  maxNameLength,
  maxNoteLength,
  NoteItem,
  pageFields,
  PersonListItem,
  PersonPublic,
  rowId,
  searchText,
  v1Errors,
} from '../api-objects/contract.ts';
import { Membership } from '../memberships/contract.ts';

export const personListQuery = Type.Object({
  q: searchText('Part of the name, ignoring case and accents. `%` and `_` are literal.'),
  ...listParameters,
});
export type PersonListQuery = Static<typeof personListQuery>;

/** Maximum number of contact values of a person. */
export const maxChannels = 50;

const channel = (maxLength: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength, description })));

/** Bounds of contact values by channel. */
const newContactRules = {
  additionalProperties: nullable(Type.String({ maxLength: 2_000 })),
  propertyNames: singleLine({ maxLength: maxChannelLength }),
  maxProperties: maxChannels,
};

/** Contact values by channel. Blank and null values are dropped. */
const newContact = Type.Object(
  {
    email: channel(320, 'Must be unique, ignoring case and surrounding whitespace.'),
    linkedin: channel(500, 'Must be unique, ignoring scheme, `www.`, query and trailing slash.'),
  },
  {
    $id: 'ContactCreate',
    ...newContactRules,
    description:
      'Contact values by channel, such as `email`, `linkedin`, `phone`, `website`. Blank values are dropped. A value with a scheme must be a link: ' +
      'http, https, mailto or tel. Other values are text.',
  },
);

const firstMembership = Type.Object(
  {
    holon_id: Type.Integer({ description: 'Holon to join.' }),
    journey_slug: singleLine({ description: "A journey of the catalogue of the holon's class." }),
    step_slug: Type.Optional(
      nullable(singleLine({ description: 'An active step of the journey. Default: the first one.' })),
    ),
    follow_up_after: Type.Optional(nullable(Type.String({ description: '`YYYY-MM-DD`.' }))),
    responsible_person_id: Type.Optional(nullable(Type.Integer({ description: 'A person with a user account.' }))),
  },
  { $id: 'FirstMembership', description: 'First membership of the person.' },
);

export const newPerson = Type.Object(
  {
    name: singleLine({
      maxLength: maxNameLength,
      description:
        'Must not be blank. Leading and trailing whitespace is removed. Several people can have the same name.',
    }),
    description: Type.Optional(
      Type.String({
        maxLength: maxDescriptionLength,
        description: "Rich text, sanitised with the web editor's allowlist.",
      }),
    ),
    actor_kind: Type.Optional(
      singleLine({ minLength: 1, maxLength: 64, default: 'human', description: 'Default `human`.' }),
    ),
    photo_url: Type.Optional(nullable(Type.String({ maxLength: 2_000, description: 'An http or https address.' }))),
    contact: Type.Optional(newContact),
    membership: Type.Optional(nullable(firstMembership)),
    note: Type.Optional(
      nullable(
        Type.String({
          maxLength: maxNoteLength,
          description: 'Attached to the membership if there is one, else to the person. Must not be blank.',
        }),
      ),
    ),
  },
  { $id: 'PersonCreate' },
);
export type NewPerson = Static<typeof newPerson>;

/** Fields of an update. Absent fields remain unchanged. */
export const personUpdate = Type.Object(
  {
    name: Type.Optional(newPerson.properties.name),
    description: newPerson.properties.description,
    photo_url: newPerson.properties.photo_url,
    contact: Type.Optional(
      Type.Object(newContact.properties, {
        ...newContactRules,
        $id: 'ContactUpdate',
        description:
          'Merged per channel; null and blank values remove the channel. Values are checked as on creation. Only superusers can change `telegram_user_id`.',
      }),
    ),
  },
  { $id: 'PersonUpdate' },
);
export type PersonUpdate = Static<typeof personUpdate>;

const personChanges = Type.Object(
  {
    name: Type.Optional(FieldChange),
    description: Type.Optional(FieldChange),
    photo_url: Type.Optional(FieldChange),
    contact: Type.Optional(FieldChange),
  },
  { $id: 'PersonChanges', description: 'Changed fields with old and new values; `contact` with all channels.' },
);

/** Error for a person whose address is in use (D44). */
export const DuplicatePerson = Type.Object(
  {
    code: Type.Literal('duplicate_person'),
    message: Type.String(),
    retryable: Type.Literal(false),
    match_field: Type.Enum(['contact.email', 'contact.linkedin'], { description: '`contact.email` if both match.' }),
    match_value: Type.String({ description: 'As it was sent.' }),
    existing_person_ids: Type.Array(Type.Integer(), { minItems: 1, description: 'Ascending.' }),
  },
  { $id: 'DuplicatePerson', description: 'The person already exists; nothing was written.' },
);

const person = Type.Object({
  id: rowId,
  name: Type.String(),
  photo: nullable(Type.String()),
  contact: jsonObject,
  description: Type.String(),
  actor_kind: Type.String(),
});

const duplicatePerson = {
  duplicate_person: { code: 'conflict', when: 'Another person has the same email or LinkedIn address.' },
} as const;

export const peopleRpcs = {
  getPeople: rpc({
    subject: 'directory.people.get-many',
    callers: { conversations: withoutActor, transcripts: withoutActor },
    summary: 'Returns people by id, in the order of the ids; unknown ids are skipped.',
    request: Type.Object({ ids: idList }),
    reply: Type.Object({ items: Type.Array(person) }),
  }),
  findPeopleByKeys: rpc({
    subject: 'admin.directory.people.find-by-keys',
    callers: byOperators,
    summary: 'Returns ids of people by keys of the workspace file; unknown keys are skipped.',
    request: Type.Object({ keys: Type.Array(Type.String(), { maxItems: 10_000 }) }),
    reply: Type.Object({ items: Type.Array(Type.Object({ key: Type.String(), id: rowId })) }),
  }),
  listPeople: rpc({
    subject: 'directory.people.list',
    callers: byUsers,
    summary: 'Lists people by part of the name (rules/people#people).',
    request: personListQuery,
    reply: Type.Object({ query: Type.String(), ...pageFields, items: Type.Array(PersonListItem) }),
    errors: v1Errors.validation('`sort` is invalid.'),
  }),
  getPerson: rpc({
    subject: 'directory.people.get',
    callers: byUsers,
    summary: 'Returns a person (rules/people#people).',
    request: Type.Object({ person_id: anyId('Id of the person.') }),
    reply: PersonPublic,
  }),
  createPerson: rpc({
    subject: 'directory.people.create',
    callers: byUsers,
    idempotent: true,
    summary:
      'Creates a person with an optional first membership and note, in one transaction (rules/people#create-a-person).',
    request: newPerson,
    reply: Type.Object({ person: PersonPublic, membership: nullable(Membership), note: nullable(NoteItem) }),
    errors: {
      ...v1Errors.validation(
        'The name or note is blank, a contact value or the photo is invalid, or the membership refers to something unknown or not allowed.',
      ),
      ...v1Errors.denied('The caller has no global edit access.'),
      ...duplicatePerson,
    },
  }),
  updatePerson: rpc({
    subject: 'directory.people.update',
    callers: byUsers,
    idempotent: true,
    summary: 'Updates a person in one transaction (rules/people#update-a-person; W1).',
    request: Type.Object({ person_id: anyId('Id of the person.'), ...personUpdate.properties, ...ifMatch }),
    reply: Type.Object({ person: PersonPublic, changes: personChanges }),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.validation('A field is invalid; the message names it.'),
      ...v1Errors.denied(
        'The caller has no global edit access and it is another person, or the caller is not a superuser and changes `telegram_user_id`.',
      ),
      ...v1Errors.notFound('The person does not exist.'),
      ...duplicatePerson,
    },
  }),
} as const;

export const attendeeRpcs = {
  resolveAttendees: rpc({
    subject: 'directory.people.resolve-attendees',
    callers: { conversations: withoutActor },
    summary:
      'Finds people by email (ignoring case) or phone number, and optionally creates unknown ones (D19, D19a, D83).',
    request: Type.Object({
      attendees: Type.Array(
        Type.Object({
          name: Type.String(),
          email: nullable(Type.String()),
          phone: Type.Optional(nullable(Type.String({ description: 'Used only without an email.' }))),
        }),
        { maxItems: 1_000 },
      ),
      create: Type.Boolean({ description: 'False: unknown attendees are null.' }),
      key: Type.String({ minLength: 1, description: 'Idempotency key; also identifies people without an email.' }),
    }),
    reply: Type.Object({ person_ids: Type.Array(nullable(rowId), { description: 'One per attendee, in order.' }) }),
    errors: {
      too_many_new_people: { code: 'conflict', when: 'More than 50 people would be created; none was created (D66).' },
    },
  }),
} as const;
