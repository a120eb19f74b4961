import { columns, defineEntity, p } from '#libs/orm/entities';

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

/** A human or other actor. `key` is the workspace file's, `originKey` that of an attendee without an email. */
export class Person extends PersonSchema.class {}
PersonSchema.setClass(Person);

/** Who was merged, and who they are now. */
export const MergedPersonSchema = defineEntity({
  name: 'MergedPerson',
  tableName: 'merged_people',
  schema: 'directory',
  properties: {
    goneId: p.integer().primary(),
    intoId: p.integer(),
    mergedAt: columns.now(),
    were: p.json().default('[]'),
  },
});

/** An email, a key of the workspace file or an `originKey` that meant somebody who was merged. */
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
