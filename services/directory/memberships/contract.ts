/**
 * Operations on memberships of the open API (rules/memberships#membership-lists, rules/memberships#updates; D45 to
 * D47a).
 */
import { byUsers, singleLine, nullable, rpc, type Static, Type } from '#libs/infrastructure/contract';
import {
  anyId,
  HolonPublic,
  ifMatch,
  limitParameter,
  NoteItem,
  offsetParameter,
  page,
  PersonPublic,
  searchText,
  v1Errors,
} from '../api-objects/contract.ts';
import {
  newWorkflowFields,
  textChange,
  workflowChanges,
  workflowFields,
  workflowUpdateFields,
} from '../workflow/contract.ts';

const membershipFields = {
  membership_id: Type.Integer(),
  journey_slug: nullable(Type.String()),
  step_slug: nullable(Type.String()),
  ...workflowFields,
};

/** Item of a person's list of memberships. */
export const MembershipWithHolon = Type.Object(
  { ...membershipFields, holon: HolonPublic },
  { $id: 'MembershipWithHolon', description: 'A membership, in lists of a person.' },
);

/** Item of a holon's list of memberships. */
export const MembershipWithPerson = Type.Object(
  { ...membershipFields, person: PersonPublic },
  { $id: 'MembershipWithPerson', description: 'A membership, in lists of a holon.' },
);

/** A membership in replies to writes (D43a, D46). */
export const Membership = Type.Object(
  { ...membershipFields, person: PersonPublic, holon: HolonPublic },
  { $id: 'Membership', description: 'A person in a holon, at a step of a journey.' },
);

/** Default page size (rules/http#limits). */
export const membershipsPerPage = 50;

/** Paging parameters of membership lists. */
const membershipPaging = { limit: limitParameter({ usual: membershipsPerPage, most: 200 }), offset: offsetParameter };

export const personMembershipsQuery = Type.Object(membershipPaging);

export const holonMembershipsQuery = Type.Object({
  q: Type.Optional(searchText("Part of the person's name, description or a contact value, ignoring case and accents.")),
  journey: Type.Optional(Type.String({ description: 'Slug of the journey.' })),
  step_slug: Type.Optional(Type.String({ description: 'Slug of the current step.' })),
  responsible_person_id: Type.Optional(anyId('Person who is responsible.')),
  follow_up: Type.Optional(
    Type.String({
      choices: ['overdue', 'today', 'future', 'none'],
      description: "`overdue`, `today`, `future`, or `none` for undated ones. Today's date is in `WORKLIST_TIME_ZONE`.",
    }),
  ),
  sort: Type.Optional(
    Type.String({
      default: 'name',
      choices: ['name', '-name', 'follow_up_after', '-follow_up_after', 'person_created', '-person_created'],
      description:
        '`name` (default: journey name, person name), `-name`, `follow_up_after`, `-follow_up_after` (undated last in both), `person_created`, ' +
        '`-person_created` (when the person was created, not when they joined).',
    }),
  ),
  ...membershipPaging,
});
export type HolonMembershipsQuery = Static<typeof holonMembershipsQuery>;

export const NewMembership = Type.Object(
  {
    person_id: Type.Integer({ description: 'Person that joins.' }),
    holon_id: Type.Integer({ description: 'Holon to join.' }),
    journey_slug: singleLine({ description: "A journey of the catalogue of the holon's class." }),
    ...newWorkflowFields,
  },
  { $id: 'MembershipCreate' },
);

/** Error for a membership that exists (W3). */
export const ExistingMembership = Type.Object(
  {
    code: Type.Literal('already_present'),
    message: Type.String(),
    retryable: Type.Literal(false),
    membership_id: nullable(
      Type.Integer({ description: 'The existing membership; null if it was deleted meanwhile.' }),
    ),
  },
  { $id: 'ExistingMembership', description: 'The person has a membership on that journey in the holon.' },
);

export const MembershipUpdate = Type.Object(
  {
    ...workflowUpdateFields,
    step_slug: Type.Optional(
      singleLine({ description: 'Active step of the current journey, or of `journey_slug` if given.' }),
    ),
    advance_step: Type.Optional(
      Type.Boolean({
        description: 'Moves to the next active step. Cannot be combined with `step_slug` or `journey_slug`.',
      }),
    ),
    responsible_person_id: Type.Optional(
      nullable(Type.Integer({ description: 'A person with a user account; null clears.' })),
    ),
    journey_slug: Type.Optional(
      singleLine({ description: 'Moves to another journey of the same holon; requires `step_slug`.' }),
    ),
  },
  { $id: 'MembershipUpdate' },
);

/**
 * Maximum length of a slug. The reply repeats the slug per item, so an unbounded slug would grow the reply to 500 times
 * the request (D60).
 */
const maxSlugLength = 200;
const bulkDefaults = {
  journey_slug: Type.Optional(singleLine({ maxLength: maxSlugLength, description: 'Slug of the journey.' })),
  step_slug: Type.Optional(
    singleLine({ maxLength: maxSlugLength, description: 'Active step of the journey. Default: the first one.' }),
  ),
};
/** Maximum items of one bulk-add (rules/http#limits). */
const maxBulkItems = 500;

export const BulkAdd = Type.Object(
  {
    memberships: Type.Array(
      Type.Object(
        {
          person_id: Type.Integer({ description: 'Id of the person.' }),
          ...bulkDefaults,
          follow_up_after: Type.Optional(nullable(Type.String({ description: '`YYYY-MM-DD`.' }))),
          responsible_person_id: Type.Optional(
            nullable(Type.Integer({ description: 'A person with a user account.' })),
          ),
        },
        { $id: 'BulkAddItem' },
      ),
      { minItems: 1, maxItems: maxBulkItems },
    ),
    journey_slug: Type.Optional(singleLine({ maxLength: maxSlugLength, description: 'Default for items.' })),
    step_slug: Type.Optional(singleLine({ maxLength: maxSlugLength, description: 'Default for items.' })),
  },
  { $id: 'BulkAdd' },
);
export type BulkAdd = Static<typeof BulkAdd>;

const bulkCount = (description: string) => Type.Integer({ minimum: 0, description });
const bulkOutcome = (outcome: string, description: string) => Type.Literal(outcome, { description });
const BulkAdded = Type.Object(
  {
    count: bulkCount('Items of the request.'),
    created: bulkCount('Items with this outcome.'),
    already_present: bulkCount('Items with this outcome.'),
    failed: bulkCount('Items with another outcome.'),
    items: Type.Array(
      Type.Object(
        {
          index: Type.Integer({ minimum: 0 }),
          person_id: Type.Integer(),
          journey_slug: nullable(Type.String()),
          outcome: Type.Union([
            bulkOutcome('created', 'It was created.'),
            bulkOutcome('already_present', 'It existed, or an earlier item created it; unchanged.'),
            bulkOutcome('person_not_found', 'The person does not exist.'),
            bulkOutcome('journey_not_found', 'The journey does not exist or is not given.'),
            bulkOutcome('journey_not_allowed', "The journey is not in the catalogue of the holon's class."),
            bulkOutcome('bulk_add_not_permitted', 'The journey does not permit bulk addition.'),
            bulkOutcome('invalid_step', 'The journey does not have this active step.'),
            bulkOutcome('invalid_field', 'The date is malformed, or the responsible person has no account.'),
          ]),
          membership_id: nullable(Type.Integer()),
          message: nullable(Type.String({ description: 'Reason of the failure.' })),
        },
        { $id: 'BulkAddedItem' },
      ),
      { description: 'In the order of the request.' },
    ),
  },
  { $id: 'BulkAdded' },
);
export type BulkAdded = Static<typeof BulkAdded>;

const unseenHolon = 'The holon does not exist, or the caller cannot see it.';

export const membershipRpcs = {
  listPersonMemberships: rpc({
    subject: 'directory.people.list-memberships',
    callers: byUsers,
    summary: 'Lists memberships of a person in visible holons (rules/memberships#membership-lists).',
    request: Type.Object({ person_id: anyId('Id of the person.'), ...personMembershipsQuery.properties }),
    reply: page(MembershipWithHolon),
    errors: v1Errors.notFound('The person does not exist.'),
  }),
  listHolonMemberships: rpc({
    subject: 'directory.holons.list-memberships',
    callers: byUsers,
    summary: 'Lists memberships of a holon (rules/memberships#membership-lists).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...holonMembershipsQuery.properties }),
    reply: page(MembershipWithPerson),
    errors: { ...v1Errors.notFound(unseenHolon), ...v1Errors.validation('`sort` or `follow_up` is invalid.') },
  }),
  createMembership: rpc({
    subject: 'directory.memberships.create',
    callers: byUsers,
    idempotent: true,
    summary: 'Creates a membership with an optional note, in one transaction (W3).',
    request: NewMembership,
    reply: Type.Object({ membership: Membership }),
    errors: {
      ...v1Errors.validation(
        'Person, holon, journey, step, date or responsible person is unknown or not allowed, or the note is blank.',
      ),
      ...v1Errors.denied('The caller cannot edit the holon.'),
      already_present: {
        code: 'conflict',
        when: 'The person has a membership on that journey in the holon; `membership_id` is its id.',
      },
    },
  }),
  deleteMembership: rpc({
    subject: 'directory.memberships.delete',
    callers: byUsers,
    summary: 'Deletes a membership. Its notes remain (W3).',
    request: Type.Object({ membership_id: anyId('Id of the membership.'), ...ifMatch }),
    reply: Type.Object({}),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.denied("The caller cannot edit the membership's holon."),
      ...v1Errors.notFound('The membership does not exist, or the caller cannot see its holon.'),
    },
  }),
  updateMembership: rpc({
    subject: 'directory.memberships.update',
    callers: byUsers,
    idempotent: true,
    summary:
      'Updates step, date and responsible person of a membership with a note, in one transaction (rules/memberships#updates).',
    request: Type.Object({ membership_id: anyId('Id of the membership.'), ...MembershipUpdate.properties, ...ifMatch }),
    reply: Type.Object({
      membership: Membership,
      note: NoteItem,
      changes: Type.Object(
        { journey: textChange, ...workflowChanges },
        {
          $id: 'MembershipChanges',
          description: 'Changed fields only; `current_step` also if the new step has the same slug.',
        },
      ),
    }),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.validation('A field is invalid, the step does not exist, or the membership would be a duplicate.'),
      ...v1Errors.denied("The caller cannot edit the membership's holon."),
      ...v1Errors.notFound('The membership does not exist, or the caller cannot see its holon.'),
    },
  }),
  bulkAddMemberships: rpc({
    subject: 'directory.memberships.bulk-add',
    callers: byUsers,
    idempotent: true,
    summary: 'Adds up to 500 people to a holon, with one outcome per item (rules/memberships#bulk-add).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...BulkAdd.properties }),
    reply: BulkAdded,
    errors: {
      ...v1Errors.denied('The caller cannot edit the holon.'),
      ...v1Errors.notFound(unseenHolon),
      bulk_in_progress: {
        code: 'conflict',
        when: 'Another bulk write of the same holon is in progress; retry (`retryable`).',
      },
    },
    timeoutMs: 25_000,
  }),
} as const;
