/** Appends events in a transaction of the feed writer: assigns positions and updates the subjects (V2, V4). */
import { randomUUID } from 'node:crypto';
import { type Database, sqlStateOf, type Tx } from '#libs/infrastructure/orm';
import type { NewFeedEvent } from './rules/messages.ts';
import {
  acquireFeedLease,
  advanceHead,
  appendMissing,
  appendNew,
  setTransactionTimeouts,
  upsertSubjects,
} from './statements/write.ts';

const dayMs = 86_400_000;
const uniqueViolation = '23505';
/**
 * The stored last position of a subject is rounded up to a multiple of this number, so that frequent events of a
 * subject rarely update its row.
 */
const positionGranularity = 16_384;

interface Batch {
  readonly lease: { readonly holder: string; readonly leaseMs: number };
  readonly events: readonly NewFeedEvent[];
  /** Stream sequence of the last message. */
  readonly sequence: number;
  readonly retentionDays: number;
}

/** Appends the events to the feed. @returns the last position; undefined when another process has the lease */
export async function append(
  db: Database,
  { lease, events, sequence, retentionDays }: Batch,
): Promise<number | undefined> {
  const accepted = events.filter(({ day }) => isInRange(day, retentionDays));
  const write = (insert: (tx: Tx, after: number) => Promise<readonly PositionedEvent[]>): Promise<number | undefined> =>
    db.transaction(async (tx) => {
      const [, head] = await tx.pipeline(
        () => setTransactionTimeouts(tx),
        () => acquireFeedLease(tx, lease),
      );
      if (head === undefined) return undefined;
      const added = await insert(tx, head.last_position);
      const position = head.last_position + accepted.length;
      tx.beforeCommit(() => Promise.all([updateSubjects(tx, added), advanceHead(tx, { position, sequence })]));
      return position;
    });
  if (accepted.length === 0) return write(async () => []);
  try {
    return await write(async (tx, after) => {
      tx.beforeCommit(() => appendNew(tx, { ...columnsOf(accepted), after }));
      return assignPositions(accepted, after);
    });
  } catch (error) {
    if (sqlStateOf(error) !== uniqueViolation) throw error;
  }
  // Some events are duplicates, published by a relay that died before it deleted its outbox rows.
  return write(async (tx, after) => {
    const rows = await appendMissing(tx, { ...columnsOf(accepted), after });
    const positions = new Set(rows.map(({ position }) => position));
    return assignPositions(accepted, after).filter(({ position }) => positions.has(position));
  });
}

interface PositionedEvent {
  readonly event: NewFeedEvent;
  readonly position: number;
}

const assignPositions = (events: readonly NewFeedEvent[], after: number): PositionedEvent[] =>
  events.map((event, index) => ({ event, position: after + index + 1 }));

/** Returns false for events older than the retention, and for events from clocks that are days ahead. */
function isInRange(day: string, retentionDays: number): boolean {
  const atMs = Date.parse(`${day}T00:00:00Z`);
  return atMs >= Date.now() - (retentionDays + 1) * dayMs && atMs <= Date.now() + dayMs;
}

function columnsOf(events: readonly NewFeedEvent[]): Omit<Parameters<typeof appendNew>[1], 'after'> {
  return {
    services: events.map(({ service }) => service),
    numbers: events.map(({ number }) => number),
    // Events are identified by service and number; the public id is random.
    ids: events.map(() => randomUUID()),
    types: events.map(({ type }) => type),
    subjectTypes: events.map(({ subject_type: type }) => type),
    subjectIds: events.map(({ subject_id: id }) => id),
    data: events.map(({ data }) => JSON.stringify(data)),
    finalEvents: events.map(({ farewell }) => farewell),
    occurredAt: events.map(({ occurred_at: at }) => at),
  };
}

async function updateSubjects(tx: Tx, added: readonly PositionedEvent[]): Promise<void> {
  if (added.length === 0) return;
  const subjects = new Map<
    string,
    { type: string; id: number; access: string | null; isFinalEvent: boolean; position: number }
  >();
  for (const { event, position } of added) {
    const key = `${event.subject_type}/${event.subject_id}`;
    const previous = subjects.get(key);
    const access = event.access === null ? null : JSON.stringify(event.access);
    const isFinalEvent = event.farewell || (previous?.isFinalEvent === true && access === null);
    subjects.set(key, {
      type: event.subject_type,
      id: event.subject_id,
      access: access ?? previous?.access ?? null,
      isFinalEvent,
      position,
    });
  }
  const rows = [...subjects.values()];
  await upsertSubjects(tx, {
    types: rows.map(({ type }) => type),
    ids: rows.map(({ id }) => id),
    access: rows.map(({ access }) => access),
    finalEvents: rows.map(({ isFinalEvent }) => isFinalEvent),
    positions: rows.map(({ position }) => Math.ceil(position / positionGranularity) * positionGranularity),
  });
}
