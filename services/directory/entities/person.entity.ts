import { defineEntity, p } from '@mikro-orm/core';
import { emptyText, instant, jsonObject } from './columns.ts';

export const PersonSchema = defineEntity({
  name: 'Person',
  tableName: 'people',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    key: p.text().nullable(),
    originKey: p.text().nullable(),
    name: p.text(),
    description: emptyText(),
    photoUrl: p.text().nullable(),
    actorKind: p.text().default('human'),
    contact: jsonObject(),
    infos: jsonObject(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});

/** A human or other actor. `key` is the workspace file's, `originKey` that of an attendee without an email. */
export class Person extends PersonSchema.class {}
PersonSchema.setClass(Person);
