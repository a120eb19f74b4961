/** Holons as a tree, and the journeys attached to each. */
import { ObjectClassSchema } from './class.entity.ts';
import { columns, defineEntity, p } from '#libs/orm/entities';
import { JourneySchema } from './journey.entity.ts';

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
