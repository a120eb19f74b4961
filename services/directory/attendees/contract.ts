/** People behind the attendees of a booking (D19, D19a). */
import { nullable, withoutActor, rpc, Type } from '#libs/contract';
import { rowId } from '../fields.ts';

/** To be spread into the contract of the directory. */
export const attendeeRpcs = {
  resolveAttendees: rpc({
    subject: 'directory.people.resolve-attendees',
    callers: { conversations: withoutActor },
    summary:
      'Finds the people behind email addresses (case ignored) or phone numbers and creates the unknown ones when asked (D19, D19a, D83).',
    request: Type.Object({
      attendees: Type.Array(
        Type.Object({
          name: Type.String(),
          email: nullable(Type.String()),
          phone: Type.Optional(nullable(Type.String({ description: 'Counts without an email.' }))),
        }),
        { maxItems: 1_000 },
      ),
      create: Type.Boolean({ description: 'False: an unknown attendee stays null.' }),
      key: Type.String({ minLength: 1, description: 'The same key gives the same people again, those without an email included.' }),
    }),
    reply: Type.Object({ person_ids: Type.Array(nullable(rowId), { description: 'One for each attendee, in order.' }) }),
    errors: { too_many_new_people: { code: 'conflict', when: 'More than 50 people would be created; none is (D66).' } },
  }),
} as const;
