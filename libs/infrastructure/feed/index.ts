/** How a service publishes events to the feed (rules/events; V2). */
export { EventOutbox } from './event-outbox.ts';
export { insertEventSql } from './statements.ts';
export { feedTables } from './tables.ts';
