/** What a caller has of all conversations (D69), as values and as a condition of SQL. */
import { type Parameter, type Sql, sql, t } from '#libs/sql';
import { idsFromSql } from './sql-values.ts';

export interface Scope {
  /** Null: the account has no person. */
  readonly personId: number | null;
  /** Holons that the account's team authority covers. */
  readonly eventIds: readonly number[];
}

/** Whether a conversation is within the scope. */
export function isWithin({ personId, eventIds }: Scope, row: { readonly event_id: number | null; readonly participants: string }): boolean {
  if (personId !== null && idsFromSql(row.participants).includes(personId)) return true;
  return row.event_id !== null && eventIds.includes(row.event_id);
}

/** Parameters of `withinScope`. */
export const scopeParams = { scopePersonId: t.integer.nullable, scopeEventIds: t.integer.array };

/** Their values. */
export function scopeValues({ personId, eventIds }: Scope): { scopePersonId: number | null; scopeEventIds: readonly number[] } {
  return { scopePersonId: personId, scopeEventIds: eventIds };
}

/** Conversations of a scope, from table alias `c`: the person takes part, or the event is one of those. */
export function withinScope({ scopePersonId, scopeEventIds }: Readonly<Record<keyof typeof scopeParams, Parameter>>): Sql {
  return sql`(c.participant_ids @> array[${scopePersonId}] or c.event_id = any(${scopeEventIds}))`;
}
