/**
 * `doctor --after-restore` (rules/operations#after-a-restore): repairs the state after a database was restored to an
 * earlier time, by `backup restore` or by PostgreSQL. While no service runs, it rebuilds queues and advances id
 * sequences. While services run, it erases people again and compares files.
 */
import { directory } from '#services/directory';
import { media } from '#services/media';
import type { ReplyOf } from '#libs/infrastructure/contract';
import { idGap, raiseGivenIds } from '#libs/product/backup';
import { buildDatabaseUrl } from '#libs/infrastructure/config';
import { listMigrations } from '#libs/infrastructure/release';
import { listRunning, rebuildQueues } from '../backup/queues.ts';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';
import { fields, table } from '../output/table.ts';
import { type Erasure, followErasure } from '../person-data/erase.ts';

const { repeatErasure } = directory.rpcs;

/** A recorded erasure. */
type Entry = ReplyOf<typeof media.rpcs.listErasures>['items'][number];
type Orphans = ReplyOf<typeof media.rpcs.findOrphans>;

export interface AfterRestore {
  /** Null while services run, which own the queues. */
  readonly queues: { readonly dropped: number | null; readonly jobs: number; readonly outbox: number } | null;
  /** Null while no service runs. */
  readonly people: {
    readonly erased: number[];
    readonly gone: number;
    readonly others: number;
    readonly damaged: string[];
  } | null;
  readonly objects: {
    readonly missing: Orphans['missing'];
    readonly orphans: Orphans['orphans'];
    readonly scanned: number;
  } | null;
}

export async function examineRestored(context: CliContext): Promise<AfterRestore> {
  const running = await listRunning(context);
  if (running.length === 0) {
    const url = context.setting('DATABASE_URL') === undefined ? undefined : buildDatabaseUrl(context.settings());
    if (url === undefined) return { queues: null, people: null, objects: null };
    await raiseGivenIds(url, Object.keys(listMigrations()));
    return { queues: await rebuildQueues(context, url), people: null, objects: null };
  }
  return { queues: null, people: await eraseAgain(context), objects: await compareObjects(context) };
}

async function eraseAgain(context: CliContext): Promise<NonNullable<AfterRestore['people']>> {
  const damaged: string[] = [];
  const erased = new Set<number>();
  // Ids whose entry did not match. A merged person has several erasure entries, of which one matches, whichever time
  // was restored.
  const others = new Map<number, 'gone' | 'other'>();
  for (let after: string | null = null; ;) {
    const page: ReplyOf<typeof media.rpcs.listErasures> = await context.call(media.rpcs.listErasures, { after });
    damaged.push(...page.damaged);
    for (const entry of page.items) {
      const { outcome, person_id: id, erasure } = await context.call(repeatErasure, entry);
      if (id === null) continue;
      if (outcome === 'gone' || outcome === 'other') others.set(id, outcome);
      if (erasure === null) continue;
      await followErasure(id, erasure, { read: () => readErasure(context, entry, erasure), onStep: () => {} });
      erased.add(id);
    }
    if (page.next === null) break;
    after = page.next;
  }
  const count = (expected: string): number =>
    [...others].filter(([id, outcome]) => outcome === expected && !erased.has(id)).length;
  return { erased: [...erased], gone: count('gone'), others: count('other'), damaged };
}

async function readErasure(context: CliContext, entry: Entry, last: Erasure): Promise<Erasure> {
  return (await context.call(repeatErasure, { ...entry, erasure_id: last.id })).erasure ?? last;
}

async function compareObjects(context: CliContext): Promise<NonNullable<AfterRestore['objects']>> {
  const total: { missing: Orphans['missing']; orphans: Orphans['orphans']; scanned: number } = {
    missing: [],
    orphans: [],
    scanned: 0,
  };
  for (let after: string | null = null; ;) {
    const page: Orphans = await context.call(media.rpcs.findOrphans, { after, min_age_seconds: 0, delete: false });
    total.missing.push(...page.missing);
    total.orphans.push(...page.orphans);
    total.scanned += page.scanned;
    if (page.next === null) return total;
    after = page.next;
  }
}

const missingColumns = {
  MISSING: ({ key }: Orphans['missing'][number]) => key,
  KIND: ({ kind }: Orphans['missing'][number]) => kind,
  CONVERSATION: ({ conversation_id: id }: Orphans['missing'][number]) => id,
};
const orphanColumns = {
  ORPHAN: ({ key }: Orphans['orphans'][number]) => key,
  BYTES: ({ size_bytes: size }: Orphans['orphans'][number]) => size,
};

/** @throws CliError when data is missing or unknown */
export function printRestored(context: CliContext, found: AfterRestore): void {
  const { queues, people, objects } = found;
  if (people === null || objects === null) {
    const dropped = queues?.dropped ?? null;
    const steps = {
      queues:
        queues === null
          ? 'DATABASE_URL is not set here'
          : `${queues.jobs} jobs and ${queues.outbox} messages will be sent`,
      ids: queues === null ? null : `sequences advanced by ${idGap.toLocaleString('en')}`,
      broker: dropped === null ? 'not available: no messages dropped' : `${dropped} old messages dropped`,
      next: 'start the services, then run this command again',
    };
    context.print(found, fields(steps));
    if (queues === null)
      throw new CliError('The queues were not rebuilt: no service is running and DATABASE_URL is not set here.');
    return;
  }
  const others = people.others === 0 ? '' : `; ${people.others} ids now belong to other people`;
  context.print(
    found,
    fields({
      queues: 'not rebuilt: services are running',
      people: `${people.erased.length} erased again${people.erased.length === 0 ? '' : ` (${people.erased.join(', ')})`}, ${people.gone} did not exist${others}`,
      objects: `${objects.scanned} compared: ${objects.missing.length} missing, ${objects.orphans.length} orphans`,
    }),
    ...(objects.missing.length === 0 ? [] : ['', table(objects.missing, missingColumns, '')]),
    ...(objects.orphans.length === 0
      ? []
      : [
          '',
          table(objects.orphans, orphanColumns, ''),
          'Orphans were stored after the backup; remove them with `media orphans --delete`.',
        ]),
  );
  if (people.damaged.length > 0)
    throw new CliError(`Unreadable erasure records, whose people are unknown: ${people.damaged.join(', ')}.`);
  if (objects.missing.length > 0)
    throw new CliError(`${objects.missing.length} files are missing: restore them from a copy of the bucket.`);
}
