/**
 * Measures the feed: the cost of a page for a caller who can read few of many events, and of a reader that catches up
 * (rules/events#feed; V3, V4).
 */
import type { Actor, ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import type { FaultEnvironment } from './feed-environment.ts';
import { contextFor, journey, superuser } from './feed-faults.ts';
import { fillFeed, type FeedSizes } from './fill-feed.ts';

const { readFeed } = events.rpcs;
type Request = RequestOf<typeof readFeed>;

export interface CostRow {
  readonly what: string;
  readonly items: number;
  /** Median of several measurements in milliseconds. */
  readonly median: number;
  readonly slowest: number;
}

const readings = 9;
const seenConversations = 40;

const document = {
  classes: [
    {
      slug: 'event',
      object_kind: 'holon',
      parent: null,
      label: 'Event',
      plural_label: 'Events',
      conversation_event: true,
    },
    { slug: 'closed', object_kind: 'holon', parent: null, label: 'Closed', plural_label: 'Closed', private: true },
  ],
  journeys: [journey],
  holons: [
    { slug: 'spring', name: 'Spring', class: 'event', parent: null, journeys: ['circle'] },
    { slug: 'vault', name: 'Vault', class: 'closed', parent: null },
  ],
  people: [{ key: 'ada', name: 'Ada', contact: {} }],
};

export async function measureCosts(
  { bus, sql }: FaultEnvironment,
  sizes: Pick<FeedSizes, 'days' | 'eventsPerDay' | 'hiddenSubjects'>,
  log: (line: string) => void,
): Promise<{ pages: CostRow[]; catchUpPerSecond: number }> {
  const { applyWorkspace } = directory.rpcs;
  const { ids } = await bus.call(applyWorkspace, { document, dry_run: false }, contextFor(applyWorkspace));
  const personId = ids['people']?.['ada'] ?? 0;
  const seen: number[] = [];
  for (let n = 0; n < seenConversations; n++) {
    const { findActive } = conversations.rpcs;
    const time = new Date(Date.UTC(2029, 0, 1) - n * 86_400_000).toISOString();
    const [found] = await bus.call(
      findActive,
      { person_id: personId, journey: 'circle', time },
      contextFor(findActive),
    );
    if (found !== undefined) seen.push(found.id);
  }
  log(`filling ${sizes.days} days of ${sizes.eventsPerDay} events`);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await fillFeed((text, params) => sql(text, params), {
    ...sizes,
    seen,
    hiddenHolon: ids['holons']?.['vault'] ?? 0,
    personId,
  });
  const member: Actor = {
    kind: 'user',
    accountId: 2_000_000,
    personId,
    superuser: false,
    globalEditor: false,
    coherenceAccess: false,
  };
  const withoutReaders: Actor = { ...member, personId: null };
  const pages: CostRow[] = [];
  const measure = async (what: string, request: Request, actor: Actor): Promise<void> => {
    const times: number[] = [];
    let items = 0;
    for (let n = 0; n < readings; n++) {
      const startedMs = performance.now();
      const page: ReplyOf<typeof readFeed> = await bus.call(
        readFeed,
        { limit: 500, ...request },
        contextFor(readFeed, actor),
      );
      times.push(performance.now() - startedMs);
      items = page.items.length;
    }
    const sorted = times.toSorted((a, b) => a - b);
    pages.push({ what, items, median: sorted[Math.floor(readings / 2)] ?? 0, slowest: sorted.at(-1) ?? 0 });
    log(
      `${what}: ${items} events, median ${sorted[Math.floor(readings / 2)]?.toFixed(0)} ms, slowest ${sorted.at(-1)?.toFixed(0)} ms`,
    );
  };
  await measure('a person who sees 1 in 1,000, from the beginning', {}, member);
  await measure('the same, conversations alone', { types: 'conversation.*' }, member);
  await measure('the same, memberships alone, of which they see none', { types: 'membership.*' }, member);
  await measure('somebody who sees none of it', { types: 'conversation.updated,membership.*' }, withoutReaders);
  await measure('a superuser, everything', {}, superuser);
  await measure('a superuser, a rare type', { types: 'membership.created' }, superuser);
  await measure('a superuser, a type that there is none of', { types: 'videohost.published' }, superuser);
  return { pages, catchUpPerSecond: await catchUp() };

  /** Reads all pages without a pause. */
  async function catchUp(): Promise<number> {
    let [after, count]: [string | undefined, number] = [undefined, 0];
    const startedMs = performance.now();
    while (performance.now() - startedMs < 10_000) {
      const page: ReplyOf<typeof readFeed> = await bus.call(
        readFeed,
        { limit: 500, ...(after !== undefined && { after }) },
        contextFor(readFeed),
      );
      count += page.items.length;
      after = page.next;
      if (!page.has_more) break;
    }
    const perSecond = count / ((performance.now() - startedMs) / 1_000);
    log(`a reader who catches up: ${perSecond.toFixed(0)} events/s over ${count} events`);
    return perSecond;
  }
}
