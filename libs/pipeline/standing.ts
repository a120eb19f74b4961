/** Where a conversation in a pipeline step stands, and what it waits for (P5): what two services know of it, put together. */
import type { LatestJob } from '#libs/contract';
import type { PipelineRegistry } from './declaration.ts';

/** A conversation in a step with a pipeline job, as its owner tells. */
export interface Entry {
  readonly conversation_id: number;
  readonly journey: string;
  readonly step: string;
  readonly since: string;
  readonly pipeline_job: string;
}

export interface Standing extends Omit<Entry, 'pipeline_job'> {
  /** Of the job; `none` = there is none. */
  readonly state: LatestJob['state'] | 'none';
  readonly waiting_for: string | null;
  readonly error: string | null;
}

/** Type of the job that a step names; undefined for one that this release does not know. */
export function jobTypeOf(registry: PipelineRegistry, { pipeline_job: name }: Pick<Entry, 'pipeline_job'>): string | undefined {
  return registry.get(name)?.jobType;
}

export function describeStanding(entry: Entry, job: LatestJob | undefined): Standing {
  const { conversation_id, journey, step, since } = entry;
  const facts = { conversation_id, journey, step, since };
  if (job === undefined) return { ...facts, state: 'none', waiting_for: 'a job: none was started', error: null };
  return { ...facts, state: job.state, waiting_for: describeWait(job), error: job.state === 'succeeded' ? null : job.failure };
}

function describeWait({ state, waits, error, attempts, run_at: runAt }: LatestJob): string | null {
  if (state === 'dead' || state === 'cancelled') return 'an operator: the job is not tried again by itself';
  if (state !== 'queued') return null;
  if (waits && error !== null) return error;
  return attempts === 0 ? 'a worker' : `its next attempt at ${runAt}`;
}

/** Entries of a page, with those that came before them left out. */
export interface EntryPage<E extends Entry> {
  readonly items: readonly E[];
  /** For the next page; null at the end. */
  readonly read: number | null;
}

/** Pages that are read for one: what is rare may come with fewer rows than were asked for, and `next`. */
const mostPages = 4;
const pageSize = 500;

/**
 * The first conversations whose job is in a state.
 * @returns what was found, and where the next page begins: behind an entry
 */
export async function listStandings<E extends Entry & { readonly entry_id: number }>(options: {
  readonly limit: number;
  readonly state: string | undefined;
  readonly before: number | undefined;
  readonly registry: PipelineRegistry;
  readonly readEntries: (before: number | undefined, limit: number) => Promise<EntryPage<E>>;
  readonly readJobs: (type: string, conversationIds: readonly number[]) => Promise<readonly LatestJob[]>;
}): Promise<{ items: Standing[]; next: number | undefined }> {
  const { limit, state, registry, readEntries } = options;
  const items: Standing[] = [];
  let { before } = options;
  for (let page = 0; page < mostPages; page++) {
    const { items: entries, read } = await readEntries(before, state === undefined ? limit : pageSize);
    const jobs = await readLatest(entries, options);
    for (const entry of entries) {
      const standing = describeStanding(entry, jobs.get(`${jobTypeOf(registry, entry)} ${entry.conversation_id}`));
      if (state !== undefined && standing.state !== state) continue;
      items.push(standing);
      if (items.length === limit) {
        const isLast = read === null && entry === entries.at(-1);
        return { items, next: isLast ? undefined : entry.entry_id };
      }
    }
    if (read === null) return { items, next: undefined };
    before = read;
  }
  return { items, next: before };
}

async function readLatest(
  entries: readonly Entry[],
  { registry, readJobs }: Pick<Parameters<typeof listStandings>[0], 'registry' | 'readJobs'>,
): Promise<Map<string, LatestJob>> {
  const byType = Map.groupBy(entries, (entry) => jobTypeOf(registry, entry));
  const found = await Promise.all(
    [...byType].map(async ([type, own]) =>
      type === undefined
        ? []
        : await readJobs(
            type,
            own.map((entry) => entry.conversation_id),
          ),
    ),
  );
  return new Map(found.flat().map((job) => [`${job.type} ${job.conversation_id}`, job]));
}
