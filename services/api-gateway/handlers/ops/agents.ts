/** `/api/ops/agents`: agents, and the sentences that wait for a decision (D70), in pages. */
import type { AnswerOf, HandledRoute, InputOf } from '#libs/contract';
import { appError } from '#libs/errors';
import type { RouteHandler } from '#libs/http';
import { type ListKind, operatorLists, readCursor, writeCursor } from '#libs/merged-list';
import type { Bus } from '#libs/nats';
import { agents } from '#services/agents';
import type { agentRoutes } from '../../routes/ops/agents.ts';

type RouteOf<Name extends string> = Extract<(typeof agentRoutes)[number], HandledRoute<Name>>;
type Handler<Name extends string> = RouteHandler<InputOf<RouteOf<Name>>, AnswerOf<RouteOf<Name>>>;
type Handlers = { [Name in 'ops-agents' | 'ops-agent-knowledge']: Handler<Name> };

const usualLimit = 50;

export function createAgentHandlers(bus: Bus): Handlers {
  return {
    'ops-agents': async ({ input, call, answer }) => {
      const { limit = usualLimit, cursor } = input.query;
      const after = readBegin(operatorLists.agents, cursor);
      const { items } = await bus.call(agents.rpcs.listAgents, { ...(after === undefined ? {} : { after }), limit: limit + 1 }, call);
      answer(toPage(operatorLists.agents, items, limit, (last) => last.slug));
    },
    'ops-agent-knowledge': async ({ input, call, answer }) => {
      const { limit = usualLimit, cursor, state } = input.query;
      const after = readBegin(operatorLists.knowledge, cursor);
      const { mode, items } = await bus.call(
        agents.rpcs.listSentences,
        {
          slug: input.params.slug,
          ...(state === undefined ? {} : { state }),
          ...(after === undefined ? {} : { after: Number(after) }),
          limit: limit + 1,
        },
        call,
      );
      answer({ mode, ...toPage(operatorLists.knowledge, items, limit, (last) => String(last.id)) });
    },
  };
}

/** @throws AppError 400 `bad_cursor` */
function readBegin(kind: ListKind, cursor: string | undefined): string | undefined {
  const position = cursor === undefined ? undefined : readCursor(kind, cursor);
  if (cursor !== undefined && position === undefined) throw appError('bad_request', 'bad_cursor', 'The cursor is none of this list.');
  return position?.at;
}

/** The first `limit` of items of which one more was asked for. */
function toPage<Item>(
  kind: ListKind,
  found: readonly Item[],
  limit: number,
  placeOf: (last: Item) => string,
): { items: Item[]; next: string | null } {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : writeCursor(kind, { at: placeOf(last), source: 'agents' }) };
}
