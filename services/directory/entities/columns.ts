import { p } from '@mikro-orm/core';
import type { JsonObject } from '#libs/json';

/** An instant as PostgreSQL's text, microseconds kept; made by the database when the row is. */
export const instant = () => p.string().columnType('timestamptz').defaultRaw('clock_timestamp()');

/** A JSON object, numbers without loss. */
export const jsonObject = () => p.json().$type<JsonObject>().defaultRaw(`'{}'`);

/** Text that is empty unless given. */
export const emptyText = () => p.text().default('');
