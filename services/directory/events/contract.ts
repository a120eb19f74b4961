/** Events of the directory: for the public feed, and for caches of other services (rules/events; V1, V4, V9, V10). */
import { event, feedEvent, noData, nullable, rowId, Type } from '#libs/infrastructure/contract';

const onJourney = {
  journey_id: nullable(Type.Integer({ description: 'Id of its journey.' })),
  journey: nullable(Type.String({ description: 'Slug of the journey.' })),
};
const membershipData = Type.Object({
  person_id: Type.Integer({ description: 'The person.' }),
  holon_id: Type.Integer({ description: 'The holon.' }),
  ...onJourney,
});
const relationshipData = Type.Object({
  from_holon_id: Type.Integer({ description: 'One holon.' }),
  to_holon_id: Type.Integer({ description: 'The other.' }),
  ...onJourney,
});
const aMembership = { person_id: 41, holon_id: 7, journey_id: 3, journey: 'open-circle' };
const aRelationship = { from_holon_id: 7, to_holon_id: 9, journey_id: 4, journey: 'partners' };

export const directoryFeed = {
  personCreated: feedEvent({
    type: 'person.created',
    subject: 'person',
    summary: 'A person was created.',
    data: noData,
    example: {},
  }),
  personUpdated: feedEvent({
    type: 'person.updated',
    subject: 'person',
    summary: 'A person was changed.',
    data: noData,
    example: {},
  }),
  personErased: feedEvent({
    type: 'person.erased',
    subject: 'person',
    summary: 'A person was erased. No further events of this person follow.',
    data: noData,
    example: {},
    isFinalEvent: true,
  }),
  personMerged: feedEvent({
    type: 'person.merged',
    subject: 'person',
    summary:
      'A person was merged into another, who now owns all their data. No further events of the merged person follow.',
    data: Type.Object({ into: Type.Integer({ description: 'The surviving person.' }) }),
    example: { into: 41 },
    isFinalEvent: true,
  }),
  holonCreated: feedEvent({
    type: 'holon.created',
    subject: 'holon',
    summary: 'A holon was created.',
    data: noData,
    example: {},
  }),
  holonUpdated: feedEvent({
    type: 'holon.updated',
    subject: 'holon',
    summary: 'Values, logo or journeys of a holon changed.',
    data: noData,
    example: {},
  }),
  holonDeleted: feedEvent({
    type: 'holon.deleted',
    subject: 'holon',
    summary: 'A holon was deleted. No further events of this holon follow.',
    data: noData,
    example: {},
    isFinalEvent: true,
  }),
  membershipCreated: feedEvent({
    type: 'membership.created',
    subject: 'membership',
    summary: 'A membership was created.',
    data: membershipData,
    example: aMembership,
  }),
  membershipUpdated: feedEvent({
    type: 'membership.updated',
    subject: 'membership',
    summary: 'Journey, step, follow-up, responsible person or person of a membership changed.',
    data: membershipData,
    example: aMembership,
  }),
  membershipDeleted: feedEvent({
    type: 'membership.deleted',
    subject: 'membership',
    summary: 'A membership was deleted. No further events of this membership follow.',
    data: membershipData,
    example: aMembership,
    isFinalEvent: true,
  }),
  relationshipCreated: feedEvent({
    type: 'relationship.created',
    subject: 'relationship',
    summary: 'A relationship was created.',
    data: relationshipData,
    example: aRelationship,
  }),
  relationshipUpdated: feedEvent({
    type: 'relationship.updated',
    subject: 'relationship',
    summary: 'Journey, step, follow-up or responsible person of a relationship changed.',
    data: relationshipData,
    example: aRelationship,
  }),
  relationshipDeleted: feedEvent({
    type: 'relationship.deleted',
    subject: 'relationship',
    summary: 'A relationship was deleted. No further events of this relationship follow.',
    data: relationshipData,
    example: aRelationship,
    isFinalEvent: true,
  }),
  noteCreated: feedEvent({
    type: 'note.created',
    subject: 'note',
    summary: 'A note about people, holons, a membership or a relationship was created.',
    data: Type.Object({
      note_type: Type.String({ description: 'Kind of the note.' }),
      person_id: nullable(Type.Integer({ description: 'The person of the note; null for none or several.' })),
      person_ids: Type.Array(Type.Integer(), { description: 'All people of the note.' }),
      holon_id: nullable(Type.Integer({ description: 'The holon of the note; null for none or several.' })),
      holon_ids: Type.Array(Type.Integer(), { description: 'All holons of the note.' }),
      membership_id: nullable(Type.Integer({ description: 'The membership of the note.' })),
      relationship_id: nullable(Type.Integer({ description: 'The relationship of the note.' })),
    }),
    example: {
      note_type: 'note',
      person_id: 41,
      person_ids: [41],
      holon_id: 7,
      holon_ids: [7],
      membership_id: 512,
      relationship_id: null,
    },
  }),
} as const;

const changedIds = Type.Object(
  { ids: nullable(Type.Array(rowId)) },
  { description: 'Ids of the changed rows. Null: too many to list, clear every cached row.' },
);

export const peopleEvents = {
  peopleChanged: event({
    subject: 'events.directory.people.changed',
    subscribers: ['conversations'],
    summary: 'People were created or changed.',
    payload: changedIds,
  }),
} as const;

export const holonEvents = {
  holonsChanged: event({
    subject: 'events.directory.holons.changed',
    subscribers: ['conversations'],
    summary: 'Holons, their attachments or their classes were created or changed.',
    payload: changedIds,
  }),
} as const;

export const journeyEvents = {
  journeysChanged: event({
    subject: 'events.directory.journeys.changed',
    subscribers: ['conversations'],
    summary: 'Journeys, steps, questions or the events that own them were created or changed.',
    payload: changedIds,
  }),
} as const;
