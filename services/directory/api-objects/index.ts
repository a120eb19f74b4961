/** Exports the SQL of the objects of the open API. */
export {
  actorFieldsSql,
  getPerson,
  noteItemSql,
  personListItemSql,
  personOrNullSql,
  personPublicSql,
} from './statements.ts';
