/** How a service tells the feed of events what happened (rules/events; V2). */
export { Feed } from './feed.ts';
export { tellSql } from './statements.ts';
export { feedTables } from './tables.ts';
