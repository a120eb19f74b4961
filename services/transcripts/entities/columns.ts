import { p } from '@mikro-orm/core';

/** An instant as PostgreSQL's text, microseconds kept. */
export const instant = () => p.string().columnType('timestamptz');

/** When the row was written; the database's time. */
export const now = () => instant().defaultRaw('clock_timestamp()');
