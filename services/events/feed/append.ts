/** One transaction of the writer: events get their positions, and what is known of their subjects moves with them (V2, V4). */
import { randomUUID } from 'node:crypto';
import { type Database, sqlStateOf, type Tx } from '#libs/orm';
import type { ToldEvent } from './rules/order.ts';
import { advanceHead, appendMissing, appendNew, holdFeed, limitTransaction, touchSubjects } from './statements/write.ts';

const dayMs = 86_400_000;
const uniqueViolation = '23505';
/** A subject is said to have its last event at the end of so many positions: what happens to it again and again is written once. */
const positionsTogether = 16_384;

interface Appending {
  readonly hold: { readonly holder: string; readonly lease: number };
  readonly events: readonly ToldEvent[];
  /** Of the stream. */
  readonly sequence: number;
  readonly retentionDays: number;
}

/** @returns the last position; undefined when somebody else writes */
export async function append(db: Database, { hold, events, sequence, retentionDays }: Appending): Promise<number | undefined> {
  const kept = events.filter(({ day }) => isKept(day, retentionDays));
  const write = (insert: (tx: Tx, after: number) => Promise<readonly Placed[]>): Promise<number | undefined> =>
    db.transaction(async (tx) => {
      const [, held] = await tx.pipeline(
        () => limitTransaction(tx),
        () => holdFeed(tx, hold),
      );
      if (held === undefined) return undefined;
      const added = await insert(tx, held.last_position);
      const position = held.last_position + kept.length;
      tx.beforeCommit(() => Promise.all([touch(tx, added), advanceHead(tx, { position, sequence })]));
      return position;
    });
  if (kept.length === 0) return write(async () => []);
  try {
    return await write(async (tx, after) => {
      tx.beforeCommit(() => appendNew(tx, { ...columnsOf(kept), after }));
      return placed(kept, after);
    });
  } catch (error) {
    if (sqlStateOf(error) !== uniqueViolation) throw error;
  }
  // Some came again: of a process that died before it could say that it had sent them.
  return write(async (tx, after) => {
    const rows = await appendMissing(tx, { ...columnsOf(kept), after });
    const positions = new Set(rows.map(({ position }) => position));
    return placed(kept, after).filter(({ position }) => positions.has(position));
  });
}

interface Placed {
  readonly event: ToldEvent;
  readonly position: number;
}

const placed = (events: readonly ToldEvent[], after: number): Placed[] =>
  events.map((event, index) => ({ event, position: after + index + 1 }));

/** Neither from before what is kept, nor of a clock that is days ahead. */
function isKept(day: string, retentionDays: number): boolean {
  const atMs = Date.parse(`${day}T00:00:00Z`);
  return atMs >= Date.now() - (retentionDays + 1) * dayMs && atMs <= Date.now() + dayMs;
}

function columnsOf(events: readonly ToldEvent[]): Omit<Parameters<typeof appendNew>[1], 'after'> {
  return {
    services: events.map(({ service }) => service),
    numbers: events.map(({ number }) => number),
    // An event is known by its number; what it is called in public is decided here.
    ids: events.map(() => randomUUID()),
    types: events.map(({ type }) => type),
    subjectTypes: events.map(({ subject_type: type }) => type),
    subjectIds: events.map(({ subject_id: id }) => id),
    data: events.map(({ data }) => JSON.stringify(data)),
    farewells: events.map(({ farewell }) => farewell),
    occurredAt: events.map(({ occurred_at: at }) => at),
  };
}

async function touch(tx: Tx, added: readonly Placed[]): Promise<void> {
  if (added.length === 0) return;
  const subjects = new Map<string, { type: string; id: number; access: string | null; isFarewell: boolean; position: number }>();
  for (const { event, position } of added) {
    const key = `${event.subject_type}/${event.subject_id}`;
    const before = subjects.get(key);
    const said = event.access === null ? null : JSON.stringify(event.access);
    const isFarewell = event.farewell || (before?.isFarewell === true && said === null);
    subjects.set(key, { type: event.subject_type, id: event.subject_id, access: said ?? before?.access ?? null, isFarewell, position });
  }
  const rows = [...subjects.values()];
  await touchSubjects(tx, {
    types: rows.map(({ type }) => type),
    ids: rows.map(({ id }) => id),
    access: rows.map(({ access }) => access),
    farewells: rows.map(({ isFarewell }) => isFarewell),
    positions: rows.map(({ position }) => Math.ceil(position / positionsTogether) * positionsTogether),
  });
}
