/**
 * Which conversations a caller may read and write (D69). `open`: every one. `members`: a person with a token of their own those in which
 * they take part, or whose event their team authority covers; coherence access is not narrowed, nor are the shared token and the platform
 * itself. What a caller may not read is not there for them.
 */
import { type Actor, isPossibleId } from '#libs/contract';
import type { CallContext } from '#libs/nats';
import type { Queryable } from '#libs/sql';
import type { ConversationsConfig } from './config.ts';
import type { DirectoryCache } from './directory-cache/index.ts';
import type { Refusals } from './refusals.ts';
import type { Scope } from './scope.ts';
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
  narrowed(actor: Actor | undefined): UserActor | undefined {
    if (this.#isOpen || actor?.kind !== 'user' || actor.superuser || actor.coherenceAccess) return undefined;
    return actor;
  }

  /** Goes before every operation on one conversation. @throws AppError 404 when the caller may not know it */
  async require(id: number, context: CallContext): Promise<void> {
    const caller = this.narrowed(context.actor);
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
    const caller = this.narrowed(context.actor);
    if (caller === undefined) return undefined;
    return { personId: caller.personId, eventIds: await this.#deps.directory.listCovered(caller.accountId, context) };
  }
}
