import { p } from '@mikro-orm/core';

/** An instant as PostgreSQL's text, microseconds kept. */
export const instant = () => p.string().columnType('timestamptz');

/** One that the database makes when the row is. */
export const madeAt = () => instant().defaultRaw('clock_timestamp()');

/** A number of 64 bits, as long as a double holds it. */
export const bigint = () => p.bigint('number');
