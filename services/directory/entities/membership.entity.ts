/** Tables of memberships and relationships at steps of journeys, and their notes. */
import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';
import { HolonSchema } from './holon.entity.ts';
import { JourneySchema, JourneyStepSchema } from './holon.entity.ts';
import { PersonSchema } from './person.entity.ts';

const workflow = () => ({
  id: p.integer().primary().autoincrement(),
  key: p.text().nullable(),
  journey: () => p.manyToOne(JourneySchema).nullable().ref(),
  step: () => p.manyToOne(JourneyStepSchema).nullable().ref(),
  followUpAfter: p.string().columnType('date').nullable(),
  responsiblePerson: () => p.manyToOne(PersonSchema).nullable().ref(),
});

export const MembershipSchema = defineEntity({
  name: 'Membership',
  tableName: 'memberships',
  schema: 'directory',
  properties: {
    ...workflow(),
    person: () => p.manyToOne(PersonSchema).ref(),
    holon: () => p.manyToOne(HolonSchema).ref(),
    holonClassId: p.integer().nullable(), // A trigger maintains this column, also in relationships.
  },
});

export const RelationshipSchema = defineEntity({
  name: 'Relationship',
  tableName: 'relationships',
  schema: 'directory',
  properties: {
    ...workflow(),
    fromHolon: () => p.manyToOne(HolonSchema).ref(),
    toHolon: () => p.manyToOne(HolonSchema).ref(),
    fromClassId: p.integer().nullable(),
    toClassId: p.integer().nullable(),
  },
});

export const NoteSchema = defineEntity({
  name: 'Note',
  tableName: 'notes',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    dedupeKey: p.text().nullable(),
    body: p.text(),
    noteType: p.text().default('note'),
    createdAt: columns.now(),
    authorPerson: () => p.manyToOne(PersonSchema).nullable().ref(),
    membership: () => p.manyToOne(MembershipSchema).nullable().ref(),
    relationship: () => p.manyToOne(RelationshipSchema).nullable().ref(),
  },
});

/** Entry of a note in a person's feed. `createdAt` is copied from the note, for sorting. */
export const PersonNoteSchema = defineEntity({
  name: 'PersonNote',
  tableName: 'person_notes',
  schema: 'directory',
  properties: {
    person: () => p.manyToOne(PersonSchema).primary().ref(),
    note: () => p.manyToOne(NoteSchema).primary().ref(),
    createdAt: p.string().columnType('timestamptz'),
  },
});

/** Entry of a note in a holon's feed. */
export const HolonNoteSchema = defineEntity({
  name: 'HolonNote',
  tableName: 'holon_notes',
  schema: 'directory',
  properties: {
    holon: () => p.manyToOne(HolonSchema).primary().ref(),
    note: () => p.manyToOne(NoteSchema).primary().ref(),
    createdAt: p.string().columnType('timestamptz'),
  },
});
