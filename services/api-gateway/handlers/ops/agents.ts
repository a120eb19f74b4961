/** Handlers of `/api/ops/agents`: agents, and knowledge that is pending a decision (D70). */
import type { RouteHandlers } from '#libs/infrastructure/http';
import { type ListKind, operatorLists, encodePosition } from '#libs/infrastructure/cursor';
import { withoutActor } from '#libs/infrastructure/nats';
import { agents } from '#services/agents';
import { media } from '#services/media';
import type { Dependencies } from '../../dependencies.ts';
import { usualLimit } from '../../routes/ops/filters.ts';
import type { agentRoutes } from '../../routes/ops/agents.ts';
import { parsePosition } from './shared.ts';

export function createAgentHandlers({ bus }: Pick<Dependencies, 'bus'>): RouteHandlers<(typeof agentRoutes)[number]> {
  return {
    'ops-agents': async ({ input, call, answer }) => {
      const { limit = usualLimit, cursor } = input.query;
      const after = parsePosition(operatorLists.agents, cursor)?.at;
      const { items } = await bus.call(
        agents.rpcs.listAgents,
        { ...(after === undefined ? {} : { after }), limit: limit + 1 },
        call,
      );
      answer(toPage(operatorLists.agents, items, limit, (last) => last.slug));
    },
    'ops-agent-knowledge': async ({ input, call, answer }) => {
      const { limit = usualLimit, cursor, state } = input.query;
      const after = parsePosition(operatorLists.knowledge, cursor)?.at;
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
    'ops-forget': async ({ input, call, answer }) => {
      const { visitor_id: visitor, ...others } = input.body;
      // Recorded first, so that a restore to an earlier time deletes the chats again (rules/operations#after-a-restore).
      if (visitor !== undefined && Object.values(others).every((value) => value === undefined)) {
        const erased = { person_id: null, digest: null, visitor_ids: [visitor], telegram_user_ids: [] };
        await bus.call(media.rpcs.recordErasure, erased, withoutActor(call));
      }
      answer(await bus.call(agents.rpcs.forgetThreads, input.body, call));
    },
  };
}

/** Returns a page of `limit` items; `found` contains one more item when there is a next page. */
function toPage<Item>(
  kind: ListKind,
  found: readonly Item[],
  limit: number,
  keyOf: (last: Item) => string,
): { items: Item[]; next: string | null } {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : encodePosition(kind, { at: keyOf(last), source: 'agents' }) };
}
