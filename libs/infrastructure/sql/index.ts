/** Declares SQL: fragments, types, and statements that are called as functions. `#libs/infrastructure/orm` runs the statements. */
export { Parameter, Sql, sql } from './sql.ts';
export type { SqlPart } from './sql.ts';
export { t } from './sql.ts';
export type { ParamsOf, RowOf, Shape } from './sql.ts';
export { statement } from './statement.ts';
export type {
  DeclaredStatement,
  CoalescedPrepared,
  CoalescedStatement,
  CoalescedRow,
  PreparedStatement,
  Queryable,
  Streamable,
  StreamOptions,
} from './statement.ts';
