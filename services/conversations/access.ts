/**
 * Decides access to conversations (D69). `open`: all callers can access all conversations. `members`: a person with a
 * personal token can access conversations in which they participate or whose event their team authority covers.
 * Coherence access, the shared token and services are not restricted. An inaccessible conversation returns 404.
 */
import { type Actor, isPossibleId } from '#libs/infrastructure/contract';
import { coherenceAccessRequired } from '#libs/infrastructure/errors';
import type { CallContext } from '#libs/infrastructure/nats';
import { type Parameter, type Queryable, type Sql, sql, t } from '#libs/infrastructure/sql';
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

interface RestorableRow {
  readonly event_id: number | null;
  readonly participants: string;
  /** Null for a conversation that is not deleted. */
  readonly deleted_at: unknown;
}

export class ConversationAccess {
  readonly #deps: Dependencies;
  readonly #isOpen: boolean;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#isOpen = deps.config.CONVERSATION_ACCESS === 'open';
  }

  /** Returns the caller if their access is restricted; returns undefined otherwise. */
  restrictedUser(actor: Actor | undefined): UserActor | undefined {
    if (this.#isOpen || actor?.kind !== 'user' || actor.superuser || actor.coherenceAccess) return undefined;
    return actor;
  }

  /** Checks access before every operation on one conversation. @throws AppError 404 when the caller cannot access it */
  async require(id: number, context: CallContext): Promise<void> {
    const caller = this.restrictedUser(context.actor);
    if (caller === undefined || !isPossibleId(id)) return;
    const { db, directory, refusals } = this.#deps;
    const row = await findMembership(db, { id, personId: caller.personId });
    if (row === undefined) return; // the operation itself returns 404 for a missing conversation
    if (row.takes_part) return;
    const covered = row.event_id === null ? [] : await directory.listCovered(caller.accountId, context, [row.event_id]);
    if (covered.length > 0) return;
    throw refusals.access();
  }

  /**
   * Returns whether the caller may change conversations of the event: with coherence access, or with team authority over
   * it (W8). Null stands for no event.
   */
  async mayEdit(eventId: number | null, context: CallContext): Promise<boolean> {
    const { actor } = context;
    if (actor?.kind !== 'user') return actor?.kind === 'shared';
    if (actor.superuser || actor.coherenceAccess) return true;
    return eventId !== null && (await this.#deps.directory.listCovered(actor.accountId, context, [eventId])).length > 0;
  }

  /** Checks the right to change conversations of the event. @throws AppError 403 `coherence_access_required` (W17) */
  async requireEditor(eventId: number | null, context: CallContext): Promise<void> {
    if (!(await this.mayEdit(eventId, context))) throw editorRequired();
  }

  /**
   * Checks the right to restore a conversation. A deleted conversation is hidden from participants, so that a missing one
   * (undefined) has the same response for them.
   * @throws AppError 404 for callers that cannot see it (D69), 403 `coherence_access_required` for all others
   */
  async requireRestorer(row: RestorableRow | undefined, context: CallContext): Promise<void> {
    if (await this.mayEdit(row?.event_id ?? null, context)) return;
    const caller = this.restrictedUser(context.actor);
    const isSeen =
      caller === undefined || (row?.deleted_at === null && isWithin({ personId: caller.personId, eventIds: [] }, row));
    throw isSeen ? editorRequired() : this.#deps.refusals.access();
  }

  /** @throws AppError 403 `coherence_access_required` (D13) for users without coherence access */
  requireCoherenceAccess({ actor }: CallContext): void {
    if (actor?.kind === 'user' && !actor.superuser && !actor.coherenceAccess) throw coherenceAccessRequired();
  }

  /** Returns the scope for a list; undefined means all conversations. Called once per list. */
  async findScope(context: CallContext): Promise<Scope | undefined> {
    const caller = this.restrictedUser(context.actor);
    if (caller === undefined) return undefined;
    return { personId: caller.personId, eventIds: await this.#deps.directory.listCovered(caller.accountId, context) };
  }
}

const editorRequired = () =>
  coherenceAccessRequired('This operation needs coherence access or team authority over the event.');

export interface Scope {
  /** Null when the account has no person. */
  readonly personId: number | null;
  /** Holons that the account's team authority covers. */
  readonly eventIds: readonly number[];
}

/** Returns whether a conversation is within the scope. */
export function isWithin(
  { personId, eventIds }: Scope,
  row: { readonly event_id: number | null; readonly participants: string },
): boolean {
  if (personId !== null && idsFromSql(row.participants).includes(personId)) return true;
  return row.event_id !== null && eventIds.includes(row.event_id);
}

/** Parameters of `withinScope`. */
export const scopeParams = { scopePersonId: t.integer.nullable, scopeEventIds: t.integer.array };

/** Returns the values of the parameters `scopeParams`. */
export function scopeValues({ personId, eventIds }: Scope): {
  scopePersonId: number | null;
  scopeEventIds: readonly number[];
} {
  return { scopePersonId: personId, scopeEventIds: eventIds };
}

/** SQL condition for table alias `c`: the person participates, or the event is in the scope. */
export function withinScope({
  scopePersonId,
  scopeEventIds,
}: Readonly<Record<keyof typeof scopeParams, Parameter>>): Sql {
  return sql`(c.participant_ids @> array[${scopePersonId}] or c.event_id = any(${scopeEventIds}))`;
}
