/** `/api/ops/agents`: agents, and the sentences that wait for a decision (D70), in pages. */
import type { RouteHandlers } from '#libs/http';
import { type ListKind, operatorLists, encodePosition } from '#libs/cursor';
import type { Bus } from '#libs/nats';
import { agents } from '#services/agents';
import { usualLimit } from '../../routes/ops/filters.ts';
import type { agentRoutes } from '../../routes/ops/agents.ts';
import { readPosition } from './position.ts';

export function createAgentHandlers(bus: Bus): RouteHandlers<(typeof agentRoutes)[number]> {
  return {
    'ops-agents': async ({ input, call, answer }) => {
      const { limit = usualLimit, cursor } = input.query;
      const after = readPosition(operatorLists.agents, cursor)?.at;
      const { items } = await bus.call(agents.rpcs.listAgents, { ...(after === undefined ? {} : { after }), limit: limit + 1 }, call);
      answer(toPage(operatorLists.agents, items, limit, (last) => last.slug));
    },
    'ops-agent-knowledge': async ({ input, call, answer }) => {
      const { limit = usualLimit, cursor, state } = input.query;
      const after = readPosition(operatorLists.knowledge, cursor)?.at;
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

/** The first `limit` of items of which one more was asked for. */
function toPage<Item>(
  kind: ListKind,
  found: readonly Item[],
  limit: number,
  placeOf: (last: Item) => string,
): { items: Item[]; next: string | null } {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : encodePosition(kind, { at: placeOf(last), source: 'agents' }) };
}
