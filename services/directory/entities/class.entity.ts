/** Classes of holons as a tree, and what they allow below them; spheres. */
import { columns, defineEntity, p } from '#libs/orm/entities';

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

/** The effective flags and `ancestorIds` (nearest first) follow from the tree; whoever writes a class derives them anew. */
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
