import { p } from '@mikro-orm/core';
import type { JsonObject } from '#libs/json';

/** An instant as PostgreSQL's text, microseconds kept. */
export const instant = () => p.string().columnType('timestamptz');

/** When the row was made, or changed last; the database's time. */
export const now = () => instant().defaultRaw('clock_timestamp()');

/** A JSON object, numbers without loss. */
export const jsonObject = () => p.json().$type<JsonObject>();

export const ids = () => p.array().$type<number[]>().columnType('integer[]').default([]);
