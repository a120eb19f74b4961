/** Memberships of the open API (rules/memberships#membership-lists, rules/memberships#updates; D45 to D47a). */
import { byUsers, singleLine, nullable, rpc, type Static, Type } from '#libs/contract';
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
import { textChange, workflowChanges, workflowFields, workflowUpdateFields } from '../workflow/contract.ts';

const membershipFields = {
  membership_id: Type.Integer(),
  journey_slug: nullable(Type.String()),
  step_slug: nullable(Type.String()),
  ...workflowFields,
};

/** Item of a person's memberships. */
export const MembershipWithHolon = Type.Object(
  { ...membershipFields, holon: HolonPublic },
  { $id: 'MembershipWithHolon', description: "A membership as the person's list shows it." },
);

/** Item of a holon's memberships. */
export const MembershipWithPerson = Type.Object(
  { ...membershipFields, person: PersonPublic },
  { $id: 'MembershipWithPerson', description: "A membership as the holon's list shows it." },
);

/** A membership in answers to writes (D43a, D46). */
export const Membership = Type.Object(
  { ...membershipFields, person: PersonPublic, holon: HolonPublic },
  { $id: 'Membership', description: 'A person in a holon, at a point of a journey.' },
);

/** Items of a page when the caller does not say (rules/http#limits). */
export const membershipsPerPage = 50;

/** Paging of lists of memberships. */
const membershipPaging = { limit: limitParameter({ usual: membershipsPerPage, most: 200 }), offset: offsetParameter };

export const personMembershipsQuery = Type.Object(membershipPaging);

export const holonMembershipsQuery = Type.Object({
  q: Type.Optional(searchText("Part of the person's name, description or a contact value; case and accents do not count.")),
  journey: Type.Optional(Type.String({ description: 'Slug of the journey.' })),
  step_slug: Type.Optional(Type.String({ description: 'Slug of the current step.' })),
  responsible_person_id: Type.Optional(anyId('Person who is responsible.')),
  follow_up: Type.Optional(
    Type.String({
      choices: ['overdue', 'today', 'future', 'none'],
      description: '`overdue`, `today`, `future`, or `none` for those without a date; today is that of `WORKLIST_TIME_ZONE`.',
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

export const MembershipUpdate = Type.Object(
  {
    ...workflowUpdateFields,
    step_slug: Type.Optional(singleLine({ description: 'Active step of the current journey, or of `journey_slug` where that is given.' })),
    advance_step: Type.Optional(
      Type.Boolean({ description: 'Move to the next active step. Not together with `step_slug` or `journey_slug`.' }),
    ),
    responsible_person_id: Type.Optional(nullable(Type.Integer({ description: 'A person with a user account; null clears.' }))),
    journey_slug: Type.Optional(singleLine({ description: 'Move to another journey of the same holon; needs `step_slug`.' })),
  },
  { $id: 'MembershipUpdate' },
);

/** No slug is longer. Without a bound the reply, which repeats the slug for each item, would be 500 times the request (D60). */
const maxSlugLength = 200;
const bulkDefaults = {
  journey_slug: Type.Optional(singleLine({ maxLength: maxSlugLength, description: 'Slug of the journey.' })),
  step_slug: Type.Optional(singleLine({ maxLength: maxSlugLength, description: 'Active step of the journey; default its first one.' })),
};
/** Items of one bulk-add (rules/http#limits). */
const maxBulkItems = 500;

export const BulkAdd = Type.Object(
  {
    memberships: Type.Array(
      Type.Object(
        {
          person_id: Type.Integer({ description: 'Id of the person.' }),
          ...bulkDefaults,
          follow_up_after: Type.Optional(nullable(Type.String({ description: '`YYYY-MM-DD`.' }))),
          responsible_person_id: Type.Optional(nullable(Type.Integer({ description: 'A person with a user account.' }))),
        },
        { $id: 'BulkAddItem' },
      ),
      { minItems: 1, maxItems: maxBulkItems },
    ),
    journey_slug: Type.Optional(singleLine({ maxLength: maxSlugLength, description: 'For items that name none.' })),
    step_slug: Type.Optional(singleLine({ maxLength: maxSlugLength, description: 'For items that name none.' })),
  },
  { $id: 'BulkAdd' },
);
export type BulkAdd = Static<typeof BulkAdd>;

const bulkCount = (description: string) => Type.Integer({ minimum: 0, description });
const bulkOutcome = (outcome: string, description: string) => Type.Literal(outcome, { description });
const BulkAdded = Type.Object(
  {
    count: bulkCount('Items of the request.'),
    created: bulkCount('Items with that outcome.'),
    already_present: bulkCount('Items with that outcome.'),
    failed: bulkCount('All others.'),
    items: Type.Array(
      Type.Object(
        {
          index: Type.Integer({ minimum: 0 }),
          person_id: Type.Integer(),
          journey_slug: nullable(Type.String()),
          outcome: Type.Union([
            bulkOutcome('created', 'It is there now.'),
            bulkOutcome('already_present', 'It was there, from before or from an earlier item, and is unchanged.'),
            bulkOutcome('person_not_found', 'Nobody has the id.'),
            bulkOutcome('journey_not_found', 'No journey has the slug, or none is named.'),
            bulkOutcome('journey_not_allowed', "The catalogue of the holon's class does not have the journey."),
            bulkOutcome('bulk_add_not_permitted', 'The journey does not permit bulk addition.'),
            bulkOutcome('invalid_step', 'The journey has no such active step.'),
            bulkOutcome('invalid_field', 'The date is malformed, or the responsible person has no account.'),
          ]),
          membership_id: nullable(Type.Integer()),
          message: nullable(Type.String({ description: 'Why it failed.' })),
        },
        { $id: 'BulkAddedItem' },
      ),
      { description: 'In the order of the request.' },
    ),
  },
  { $id: 'BulkAdded' },
);
export type BulkAdded = Static<typeof BulkAdded>;

const unseenHolon = 'No holon has the id, or the caller may not see it.';

/** To be spread into the contract of the directory. */
export const membershipRpcs = {
  listPersonMemberships: rpc({
    subject: 'directory.people.list-memberships',
    callers: byUsers,
    summary: 'Memberships of a person as far as the caller may see their holons (rules/memberships#membership-lists).',
    request: Type.Object({ person_id: anyId('Id of the person.'), ...personMembershipsQuery.properties }),
    reply: page(MembershipWithHolon),
    errors: v1Errors.notFound('No person has the id.'),
  }),
  listHolonMemberships: rpc({
    subject: 'directory.holons.list-memberships',
    callers: byUsers,
    summary: 'Memberships in a holon (rules/memberships#membership-lists).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...holonMembershipsQuery.properties }),
    reply: page(MembershipWithPerson),
    errors: { ...v1Errors.notFound(unseenHolon), ...v1Errors.validation('`sort` or `follow_up` is none of the choices.') },
  }),
  updateMembership: rpc({
    subject: 'directory.memberships.update',
    callers: byUsers,
    idempotent: true,
    summary: 'Moves a membership, dates it, hands it over, with a note; all or nothing (rules/memberships#updates).',
    request: Type.Object({ membership_id: anyId('Id of the membership.'), ...MembershipUpdate.properties, ...ifMatch }),
    reply: Type.Object({
      membership: Membership,
      note: NoteItem,
      changes: Type.Object(
        { journey: textChange, ...workflowChanges },
        { $id: 'MembershipChanges', description: 'Only what changed; `current_step` also when another step has the same slug.' },
      ),
    }),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.validation('A field cannot be as it is sent, there is no such step, or the membership would be there twice.'),
      ...v1Errors.denied("The caller may not edit the membership's holon."),
      ...v1Errors.notFound('No membership has the id, or the caller may not see its holon.'),
    },
  }),
  bulkAddMemberships: rpc({
    subject: 'directory.memberships.bulk-add',
    callers: byUsers,
    idempotent: true,
    summary: 'Adds up to 500 people to a holon, each with an outcome of its own (rules/memberships#bulk-add).',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...BulkAdd.properties }),
    reply: BulkAdded,
    errors: {
      ...v1Errors.denied('The caller may not edit the holon.'),
      ...v1Errors.notFound(unseenHolon),
      bulk_in_progress: { code: 'conflict', when: 'Another bulk write of the same holon has not ended; try again (`retryable`).' },
    },
    timeoutMs: 25_000,
  }),
} as const;
