/**
 * Which conversations a caller may read and write (D69). `open`: every one. `members`: a person with a token of their own those in which
 * they take part, or whose event their team authority covers; coherence access is not restrictedUser, nor are the shared token and the platform
 * itself. What a caller may not read is not there for them.
 */
import { type Actor, isPossibleId } from '#libs/contract';
import type { CallContext } from '#libs/nats';
import { type Parameter, type Queryable, type Sql, sql, t } from '#libs/sql';
import type { ConversationsConfig } from './config.ts';
import type { DirectoryCache } from './directory-cache/index.ts';
import type { Refusals } from './refusals.ts';
import { idsFromSql } from './representation.ts';
import { findMembership } from './statements.ts';

type UserActor = Extract<Actor, { kind: 'user' }>;

interface Dependencies {
  readonly config: Pick<ConversationsConfig, 'CONVERSATION_ACCESS'>;
  readonly db: Queryable;
  readonly directory: Pick<DirectoryCache, 'listCovered'>;
  readonly refusals: Pick<Refusals, 'access'>;
}

export class ConversationAccess {
  readonly #deps: Dependencies;
  readonly #isOpen: boolean;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#isOpen = deps.config.CONVERSATION_ACCESS === 'open';
  }

  /** The caller when they do not have every conversation. */
  restrictedUser(actor: Actor | undefined): UserActor | undefined {
    if (this.#isOpen || actor?.kind !== 'user' || actor.superuser || actor.coherenceAccess) return undefined;
    return actor;
  }

  /** Goes before every operation on one conversation. @throws AppError 404 when the caller may not know it */
  async require(id: number, context: CallContext): Promise<void> {
    const caller = this.restrictedUser(context.actor);
    if (caller === undefined || !isPossibleId(id)) return;
    const { db, directory, refusals } = this.#deps;
    const row = await findMembership(db, { id, personId: caller.personId });
    if (row === undefined) return; // the operation says so itself
    if (row.takes_part) return;
    const covered = row.event_id === null ? [] : await directory.listCovered(caller.accountId, context, [row.event_id]);
    if (covered.length > 0) return;
    throw refusals.access();
  }

  /** For lists: undefined = every conversation. Asked once for each. */
  async findScope(context: CallContext): Promise<Scope | undefined> {
    const caller = this.restrictedUser(context.actor);
    if (caller === undefined) return undefined;
    return { personId: caller.personId, eventIds: await this.#deps.directory.listCovered(caller.accountId, context) };
  }
}

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
