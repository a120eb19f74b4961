/** Journeys with their questions and steps, and the classes that bring them. */
import { ObjectClassSchema } from './class.entity.ts';
import { columns, defineEntity, p } from '#libs/orm/entities';

export const JourneySchema = defineEntity({
  name: 'Journey',
  tableName: 'journeys',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    slug: p.text(),
    name: p.text(),
    searchName: p.text().nullable(), // kept by a trigger
    description: columns.emptyText(),
    svcApp: columns.emptyText(),
    objectKind: p.text().default('holon'),
    appliesToClass: () => p.manyToOne(ObjectClassSchema).nullable().ref(),
    isConversation: p.boolean().default(false),
    publicVisible: p.boolean().default(false),
    bulkAdd: p.boolean().default(false),
    texts: columns.jsonObject(),
    createdAt: columns.now(),
    updatedAt: columns.now(),
  },
});

export const JourneyQuestionSchema = defineEntity({
  name: 'JourneyQuestion',
  tableName: 'journey_questions',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    journey: () => p.manyToOne(JourneySchema).ref(),
    text: p.text(),
    position: p.integer(),
    isRetired: p.boolean().default(false),
  },
});

/** `updatedAt` is that of the configuration and moves with nothing else (D16b). */
export const JourneyStepSchema = defineEntity({
  name: 'JourneyStep',
  tableName: 'journey_steps',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    journey: () => p.manyToOne(JourneySchema).ref(),
    slug: p.text(),
    title: p.text(),
    goal: columns.emptyText(),
    successCriteria: columns.emptyText(),
    starterMessage: columns.emptyText(),
    position: p.integer(),
    isArchived: p.boolean().default(false),
    pipelineJob: p.text().nullable(),
    config: columns.jsonObject(),
    updatedAt: columns.now(),
  },
});

export const ClassJourneySchema = defineEntity({
  name: 'ClassJourney',
  tableName: 'class_journeys',
  schema: 'directory',
  properties: {
    class: () => p.manyToOne(ObjectClassSchema).primary().ref(),
    journey: () => p.manyToOne(JourneySchema).primary().ref(),
    position: p.integer(),
  },
});
