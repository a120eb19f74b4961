/**
 * Writers change conversations while every process, NATS and PostgreSQL are killed in turn, and one reader follows the
 * feed. Database triggers, which do not depend on the platform, record the committed changes: the feed must contain
 * these changes in the same order (V2).
 */
import type { Actor, ReplyOf, Rpc } from '#libs/infrastructure/contract';
import { type CallContext, newContext } from '#libs/infrastructure/nats';
import { setTimeout as sleep } from 'node:timers/promises';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import type { FaultEnvironment } from './feed-environment.ts';

type FeedEvent = ReplyOf<typeof events.rpcs.readFeed>['items'][number];
/** Journey of the conversations that lab programs create. */
export const journey = {
  slug: 'circle',
  name: 'Circle',
  svc_app: 'coherence',
  object_kind: 'holon',
  applies_to: 'event',
  is_conversation: true,
  steps: [{ slug: 'held', title: 'Held' }],
};

interface Change {
  readonly id: number;
  readonly type: string;
}

export interface FaultRun {
  /** Approximate number of changes to commit. */
  readonly changes: number;
  readonly writers: number;
  /** How often each process and server is killed. */
  readonly rounds: number;
  /** Names of the processes and servers to kill; default: all. */
  readonly names?: readonly string[];
  readonly log: (line: string) => void;
}

/** All values except `changes` and `kills` are 0 if the feed is correct. */
export interface FaultTable {
  readonly changes: number;
  readonly kills: number;
  /** Committed changes that are missing in the feed. */
  readonly lost: number;
  /** Events that are duplicated, or belong to changes that did not commit. */
  readonly doubled: number;
  /** Conversations whose events are not in commit order. */
  readonly outOfOrder: number;
  /**
   * Positions at which the follower received another event than a later reader of the feed, e.g. because an event
   * appeared before a position that the follower had already passed.
   */
  readonly gaps: number;
}

/** An account that can read everything. */
export const superuser: Actor = {
  kind: 'user',
  accountId: 1,
  personId: null,
  superuser: true,
  globalEditor: true,
  coherenceAccess: true,
};
export const contextFor = (rpc: Rpc, actor: Actor = superuser): CallContext =>
  Object.values(rpc.callers).some((kinds) => kinds.includes('none')) ? newContext() : { ...newContext(), actor };

export async function runFaults(
  environment: FaultEnvironment,
  { changes, writers, rounds, names = environment.names, log }: FaultRun,
): Promise<FaultTable> {
  const { bus, sql } = environment;
  const ids = await setUp(environment, writers);
  let isWritten = false;
  let isRead = false;
  const followed: FeedEvent[] = [];
  const following = follow(environment, followed, () => isRead);
  const writing = Promise.all(ids.map((id) => write(environment, id, () => isWritten)));
  const countCommitted = async (): Promise<number> =>
    (await sql<{ count: number }>('select count(*)::integer as count from conversations.committed'))[0]?.count ?? 0;
  const faults = Array.from({ length: rounds }, () => names).flat();
  for (const [index, name] of faults.entries()) {
    const due = Math.floor((changes * (index + 1)) / (faults.length + 1));
    while ((await countCommitted()) < due) await sleep(200);
    log(`${due} changes; killing ${name}`);
    await environment.kill(name);
  }
  while ((await countCommitted()) < changes) await sleep(200);
  isWritten = true;
  await writing;
  const committed = await sql<Change>('select id, type from conversations.committed order by place');
  log(`${committed.length} changes committed; waiting for the feed`);
  const isWhole = `select (select count(*) from events.feed where type like 'conversation.%updated') >= $1 and not exists (select from conversations.feed_outbox) as whole`;
  for (
    let tries = 0;
    tries < 300 && (await sql<{ whole: boolean }>(isWhole, [committed.length]))[0]?.whole !== true;
    tries++
  )
    await sleep(200);
  const all = await readAll(environment);
  // The follower may still be waiting for a reply from a killed process.
  for (let tries = 0; tries < 450 && followed.length < all.length; tries++) await sleep(200);
  isRead = true;
  await following;
  await bus.ping();
  return compare(committed, all, followed, faults.length);
}

function compare(
  committed: readonly Change[],
  all: readonly FeedEvent[],
  followed: readonly FeedEvent[],
  kills: number,
): FaultTable {
  const emitted = all
    .filter(({ type }) => /^conversation\..*updated$/.test(type))
    .map(({ type, subject }) => ({ type, id: subject.id }));
  const byId = (list: readonly Change[]): Map<number, string> => {
    const texts = new Map<number, string>();
    for (const { id, type } of list) texts.set(id, `${texts.get(id) ?? ''} ${type}`);
    return texts;
  };
  const [expected, found] = [byId(committed), byId(emitted)];
  const repeated = all.length - new Set(all.map(({ id }) => id)).size;
  return {
    changes: committed.length,
    kills,
    lost: Math.max(0, committed.length - emitted.length + repeated),
    doubled: repeated + Math.max(0, emitted.length - repeated - committed.length),
    outOfOrder: [...expected].filter(([id, text]) => found.get(id) !== text).length,
    gaps: Array.from({ length: Math.max(all.length, followed.length) }).filter(
      (_, at) => all[at]?.id !== followed[at]?.id,
    ).length,
  };
}

/** Creates one conversation per writer, and the triggers that record commits. Returns the conversation ids. */
async function setUp({ bus, sql }: FaultEnvironment, writers: number): Promise<number[]> {
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
    ],
    journeys: [journey],
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', parent: null, journeys: ['circle'] }],
    people: Array.from({ length: writers }, (_, index) => ({ key: `p${index}`, name: `Person ${index}`, contact: {} })),
  };
  const { applyWorkspace } = directory.rpcs;
  const applied = await bus.call(applyWorkspace, { document, dry_run: false }, contextFor(applyWorkspace));
  const { findActive } = conversations.rpcs;
  const made = await Promise.all(
    Object.values(applied.ids['people'] ?? {}).map((personId) =>
      bus.call(
        findActive,
        { person_id: personId, journey: 'circle', time: '2030-01-01T10:00:00Z' },
        contextFor(findActive),
      ),
    ),
  );
  for (const text of [
    'create table conversations.committed (place bigserial, id integer, type text)',
    `create function conversations.note_change() returns trigger language plpgsql security definer as $$ begin
      insert into conversations.committed (id, type) values (new.id, case when new.room is distinct from old.room
        then 'conversation.room_updated' else 'conversation.updated' end);
      return null;
    end $$`,
    `create trigger note_change after update on conversations.all_conversations for each row
      when (new.room is distinct from old.room or new.infos is distinct from old.infos) execute function conversations.note_change()`,
  ])
    await sql(text);
  return made.flatMap((found) => found.map(({ id }) => id));
}

/** Writes until `isOver`; failed writes are ignored. */
async function write({ bus }: FaultEnvironment, id: number, isOver: () => boolean): Promise<void> {
  const { patch, writeRoom } = conversations.rpcs;
  for (let n = 1; !isOver(); n++) {
    const work =
      n % 3 === 0
        ? bus.call(
            writeRoom,
            { conversation_id: id, write: { phase: 'conversation', version: n } },
            contextFor(writeRoom),
          )
        : bus.call(patch, { conversation_id: id, infos: { n } }, contextFor(patch));
    await work.catch(() => sleep(50));
  }
}

const { readFeed } = events.rpcs;
const read = ({ bus }: FaultEnvironment, after: string | undefined, wait: number): Promise<ReplyOf<typeof readFeed>> =>
  bus.call(readFeed, { ...(after !== undefined && { after }), wait, limit: 500 }, contextFor(readFeed));

/** Follows the feed until `isOver`, retrying after every failure. */
async function follow(environment: FaultEnvironment, seen: FeedEvent[], isOver: () => boolean): Promise<void> {
  let after: string | undefined;
  while (!isOver()) {
    const page = await read(environment, after, 1).catch(() => undefined);
    if (page === undefined) await sleep(100);
    seen.push(...(page?.items ?? []));
    after = page?.next ?? after;
  }
}

async function readAll(environment: FaultEnvironment): Promise<FeedEvent[]> {
  const all: FeedEvent[] = [];
  for (let after: string | undefined, more = true; more;) {
    const page = await read(environment, after, 0);
    all.push(...page.items);
    [after, more] = [page.next, page.has_more];
  }
  return all;
}
