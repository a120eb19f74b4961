import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';

export const PersonSchema = defineEntity({
  name: 'Person',
  tableName: 'people',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    key: p.text().nullable(),
    originKey: p.text().nullable(),
    name: p.text(),
    description: columns.emptyText(),
    photoUrl: p.text().nullable(),
    actorKind: p.text().default('human'),
    contact: columns.jsonObject(),
    infos: columns.jsonObject(),
    createdAt: columns.now(),
    updatedAt: columns.now(),
  },
});

/** A human or other actor. `key` is from the workspace file; `originKey` identifies an attendee without an email. */
export class Person extends PersonSchema.class {}
PersonSchema.setClass(Person);

/** Merged people, each with its surviving person. */
export const MergedPersonSchema = defineEntity({
  name: 'MergedPerson',
  tableName: 'merged_people',
  schema: 'directory',
  properties: {
    mergedId: p.integer().primary().fieldName('gone_id'),
    intoId: p.integer(),
    mergedAt: columns.now(),
    were: p.json().default('[]'),
  },
});

/** An email, workspace key or `originKey` of a merged person. */
export const PersonAliasSchema = defineEntity({
  name: 'PersonAlias',
  tableName: 'person_aliases',
  schema: 'directory',
  properties: {
    kind: p.text().primary(),
    value: p.text().primary(),
    person: () => p.manyToOne(PersonSchema).ref(),
  },
});
