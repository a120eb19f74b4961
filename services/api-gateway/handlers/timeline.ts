/** Handles `GET /conversations/{id}/timeline`: one request to each service that owns a part of it (W9, W23). */
import type { TimelineFact, TimelineItem } from '#libs/infrastructure/contract';
import type { RouteHandlers } from '#libs/infrastructure/http';
import { type CallContext, withoutActor } from '#libs/infrastructure/nats';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { Dependencies } from '../dependencies.ts';
import type { timelineRoutes } from '../routes/timeline.ts';
import { queryServices } from './ops/shared.ts';

const others = {
  agents: agents.rpcs.readTimeline,
  media: media.rpcs.readTimeline,
  transcripts: transcripts.rpcs.readTimeline,
} as const;
const otherNames = Object.keys(others) as (keyof typeof others)[];

/** Maximum number of accounts that are named at once. */
const maxNamed = 200;

export function createTimelineHandlers({
  bus,
}: Pick<Dependencies, 'bus'>): RouteHandlers<(typeof timelineRoutes)[number]> {
  const nameAccounts = async (facts: readonly TimelineFact[], call: CallContext): Promise<Map<number, string>> => {
    const ids = [...new Set(facts.flatMap(({ actor }) => actor?.account_id ?? []))].slice(0, maxNamed);
    if (ids.length === 0) return new Map();
    const { items } = await bus.call(directory.rpcs.nameActors, { ids }, call);
    return new Map(items.map(({ account_id: id, name }) => [id, name]));
  };

  return {
    timeline: async ({ input, call, answer }) => {
      const { conversation_id: id } = input.params;
      // The owner of conversations checks the access; the others are asked after it.
      const own = await bus.call(conversations.rpcs.readTimeline, { conversation_id: id }, call);
      const context = withoutActor(call);
      const answers = await queryServices(otherNames, (name) =>
        bus.call(others[name], { conversation_id: id }, context),
      );
      const facts = [own, ...answers.replies].flatMap(({ items }) => items);
      const named = await queryServices(['directory'] as const, () => nameAccounts(facts, context));
      const names = named.replies[0] ?? new Map<number, string>();
      const items = facts.map(({ actor, ...fact }): TimelineItem => {
        if (actor === null) return { ...fact, actor };
        const { account_id: accountId, kind, name } = actor;
        return { ...fact, actor: { kind, name: name ?? names.get(accountId ?? 0) ?? null } };
      });
      answer({
        items: items.toSorted((left, right) => compareTimes(left.at, right.at)),
        missing: [...answers.missing, ...named.missing].toSorted(),
      });
    },
  };
}

/** Compares two instants of the API, with six or no fractional digits. */
function compareTimes(left: string, right: string): number {
  const [first, second] = [left.replace(/Z$/, ''), right.replace(/Z$/, '')];
  return first < second ? -1 : first > second ? 1 : 0;
}
