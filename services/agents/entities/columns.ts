import { p } from '@mikro-orm/core';
import type { JsonObject } from '#libs/json';

/** An instant as PostgreSQL's text, microseconds kept. */
export const instant = () => p.string().columnType('timestamptz');

/** One that the database makes when the row is. */
export const madeAt = () => instant().defaultRaw('clock_timestamp()');

/** A JSON object, numbers without loss. */
export const jsonObject = () => p.json().$type<JsonObject>().defaultRaw(`'{}'`);

/** A number of 64 bits, as long as a double holds it. */
export const bigint = () => p.bigint('number');

/** Text that is empty unless given. */
export const emptyText = () => p.text().default('');
