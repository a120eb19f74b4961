import { defineEntity, p } from '@mikro-orm/core';
import { columns } from '#libs/orm';

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
