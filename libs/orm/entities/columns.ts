/** Columns of entities that the tables of every service have. */
import { p } from '@mikro-orm/core';
import type { JsonObject } from '#libs/json';

const instant = () => p.string().columnType('timestamptz');

export const columns = {
  /** An instant as PostgreSQL's text, microseconds kept. */
  instant,

  /** One that the database sets when the row is made. */
  now: () => instant().defaultRaw('clock_timestamp()'),

  /** A JSON object, numbers without loss; empty unless given. */
  jsonObject: () => p.json().$type<JsonObject>().defaultRaw(`'{}'`),

  /** A number of 64 bits, as long as a double holds it. */
  bigint: () => p.bigint('number'),

  /** Text that is empty unless given. */
  emptyText: () => p.text().default(''),

  /** A list of ids. */
  ids: () => p.array().$type<number[]>().columnType('integer[]').default([]),
} as const;
