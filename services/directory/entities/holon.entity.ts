/** Tables of classes with allowed children, spheres, journeys, and holons with their attachments. */
import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';

export const SphereSchema = defineEntity({
  name: 'Sphere',
  tableName: 'spheres',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    key: p.text(),
    name: p.text(),
    isActive: p.boolean().default(true),
  },
});

/**
 * Tree of classes. Every write of a class derives the effective flags and `ancestorIds` (nearest first) from the tree.
 */
export const ObjectClassSchema = defineEntity({
  name: 'ObjectClass',
  tableName: 'object_classes',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    slug: p.text(),
    objectKind: p.text().default('holon'),
    parent: () => p.manyToOne(ObjectClassSchema).nullable().ref(),
    label: p.text(),
    pluralLabel: p.text(),
    description: columns.emptyText(),
    sortOrder: p.integer().default(0),
    isSystem: p.boolean().default(false),
    isActive: p.boolean().default(true),
    iconUrl: p.text().nullable(),
    conversationEvent: p.boolean().default(false),
    private: p.boolean().default(false),
    nameReadOnly: p.boolean().default(false),
    config: columns.jsonObject(),
    effectivePrivate: p.boolean().default(false),
    effectiveNameReadOnly: p.boolean().default(false),
    ancestorIds: p.array().$type<number[]>().columnType('integer[]').default([]),
    createdAt: columns.now(),
    updatedAt: columns.now(),
  },
});

export const ClassAllowedChildSchema = defineEntity({
  name: 'ClassAllowedChild',
  tableName: 'class_allowed_children',
  schema: 'directory',
  properties: {
    class: () => p.manyToOne(ObjectClassSchema).primary().ref(),
    childClass: () => p.manyToOne(ObjectClassSchema).primary().ref(),
    position: p.integer(),
  },
});

/** Journeys with their questions and steps, and the classes they are attached to. */

export const JourneySchema = defineEntity({
  name: 'Journey',
  tableName: 'journeys',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    slug: p.text(),
    name: p.text(),
    searchName: p.text().nullable(), // A trigger maintains this column.
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

/** `updatedAt` changes only with the configuration (D16b). */
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

export const HolonSchema = defineEntity({
  name: 'Holon',
  tableName: 'holons',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    slug: p.text(),
    name: p.text(),
    description: columns.emptyText(),
    class: () => p.manyToOne(ObjectClassSchema).ref(),
    parent: () => p.manyToOne(HolonSchema).nullable().ref(),
    links: columns.jsonObject(),
    infos: columns.jsonObject(),
    logoUrl: p.text().nullable(),
    logoBlobId: p.integer().nullable(),
    createdAt: columns.now(),
    updatedAt: columns.now(),
  },
});

export const HolonJourneySchema = defineEntity({
  name: 'HolonJourney',
  tableName: 'holon_journeys',
  schema: 'directory',
  properties: {
    holon: () => p.manyToOne(HolonSchema).primary().ref(),
    journey: () => p.manyToOne(JourneySchema).primary().ref(),
    position: p.integer(),
  },
});
