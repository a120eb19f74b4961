/** Handlers of `/api/ops/threads`: chats with agents, with the emails of operators (H1 to H5). */
import { AppError, appError } from '#libs/infrastructure/errors';
import type { RouteHandlers } from '#libs/infrastructure/http';
import { operatorLists, parseInstantKey, encodePosition } from '#libs/infrastructure/cursor';
import type { CallContext } from '#libs/infrastructure/nats';
import { agents, type Thread, type ThreadMessage } from '#services/agents';
import { directory } from '#services/directory';
import type { Dependencies } from '../../dependencies.ts';
import { usualLimit } from '../../routes/ops/filters.ts';
import type { threadRoutes } from '../../routes/ops/threads.ts';
import { badCursor, parsePosition } from './shared.ts';

const kind = operatorLists.threads;

type Emails = ReadonlyMap<number, string>;

export function createThreadHandlers({ bus }: Pick<Dependencies, 'bus'>): RouteHandlers<(typeof threadRoutes)[number]> {
  const findEmails = async (accounts: readonly (number | null | undefined)[], call: CallContext): Promise<Emails> => {
    const ids = [...new Set(accounts.flatMap((id) => id ?? []))];
    const accountNames = ids.length === 0 ? [] : (await bus.call(directory.rpcs.nameAccounts, { ids }, call)).items;
    return new Map(accountNames.map(({ id, email }) => [id, email]));
  };
  const addEmails = async (thread: Thread, call: CallContext) =>
    formatThread(thread, await findEmails([thread.taken_by?.account_id], call));
  /** Rethrows the error with the email of the operator that has taken over the thread. */
  const addOperatorEmail = async (error: unknown, call: CallContext): Promise<never> => {
    if (!(error instanceof AppError) || error.reason !== 'thread_taken') throw error;
    const { account_id: id = null, since } = error.details['taken_by'] as {
      account_id?: number | null;
      since?: string;
    };
    const takenBy = { account: formatAccount(id, await findEmails([id], call)), since };
    throw appError(error.code, 'thread_taken', error.message, { taken_by: takenBy });
  };

  return {
    'ops-threads': async ({ input, call, answer }) => {
      const { limit = usualLimit, cursor, ...filter } = input.query;
      const { items } = await bus.call(
        agents.rpcs.listThreads,
        { ...filter, ...parseBefore(cursor), limit: limit + 1 },
        call,
      );
      const page = items.slice(0, limit);
      const emails = await findEmails(
        page.map((thread) => thread.taken_by?.account_id),
        call,
      );
      const last = items.length > limit ? page.at(-1) : undefined;
      const next =
        last === undefined ? null : encodePosition(kind, { at: `${last.updated_at} ${last.id}`, source: 'agents' });
      answer({ items: page.map((thread) => formatThread(thread, emails)), next });
    },
    'ops-thread': async ({ input, call, answer }) => {
      const { limit = usualLimit, before } = input.query;
      const request = { ...input.params, limit, ...(before === undefined ? {} : { before }) };
      const { thread, messages, before: next } = await bus.call(agents.rpcs.readThread, request, call);
      const emails = await findEmails([thread.taken_by?.account_id, ...messages.map(({ account_id: id }) => id)], call);
      answer({
        thread: formatThread(thread, emails),
        messages: messages.map((message) => formatMessage(message, emails)),
        before: next,
      });
    },
    'ops-take-thread': async ({ input, call, answer }) => {
      const { thread } = await bus
        .call(agents.rpcs.takeThread, input.params, call)
        .catch((error: unknown) => addOperatorEmail(error, call));
      answer({ thread: await addEmails(thread, call) });
    },
    'ops-say-in-thread': async ({ input, call, answer }) => {
      const request = {
        ...input.params,
        body: input.body.body,
        idempotency_key: input.headers['Idempotency-Key'] ?? null,
      };
      const { message } = await bus
        .call(agents.rpcs.sayInThread, request, call)
        .catch((error: unknown) => addOperatorEmail(error, call));
      answer({ message: formatMessage(message, await findEmails([message.account_id], call)) });
    },
    'ops-hand-thread-back': async ({ input, call, answer }) => {
      const { thread } = await bus.call(agents.rpcs.handThreadBack, input.params, call);
      answer({ thread: await addEmails(thread, call) });
    },
  };
}

/** Returns the `before` field of the request for a cursor. @throws AppError 400 `bad_cursor` */
function parseBefore(cursor: string | undefined): { before?: { at: string; id: number } } {
  const position = parsePosition(kind, cursor);
  if (position === undefined) return {};
  const before = parseInstantKey(position.at);
  if (before === undefined) throw badCursor();
  return { before };
}

function formatAccount(id: number | null | undefined, emails: Emails) {
  return id === null || id === undefined ? null : { id, email: emails.get(id) ?? null };
}

function formatThread({ taken_by: takenBy, ...facts }: Thread, emails: Emails) {
  return {
    ...facts,
    taken_by: takenBy === null ? null : { account: formatAccount(takenBy.account_id, emails), since: takenBy.since },
  };
}

function formatMessage({ author, account_id: id, ...facts }: ThreadMessage, emails: Emails) {
  return { ...facts, author: { kind: author, account: formatAccount(id, emails) } };
}
