/**
 * Combines the status of conversations in pipeline steps (P5) from the conversations service and the service that owns
 * the job.
 */
import type { LatestJob } from '#libs/infrastructure/contract';
import type { PipelineRegistry } from './declaration.ts';

/** A conversation in a step with a pipeline job. */
export interface Entry {
  readonly conversation_id: number;
  readonly journey: string;
  readonly step: string;
  readonly since: string;
  readonly pipeline_job: string;
}

export interface PipelineStatus extends Omit<Entry, 'pipeline_job'> {
  /** State of the latest job; `none` when the conversation has no job. */
  readonly state: LatestJob['state'] | 'none';
  readonly waiting_for: string | null;
  readonly error: string | null;
}

/** Returns the job type of the step's pipeline job; undefined when this release does not know the job. */
export function jobTypeOf(
  registry: PipelineRegistry,
  { pipeline_job: name }: Pick<Entry, 'pipeline_job'>,
): string | undefined {
  return registry.get(name)?.jobType;
}

export function describePipelineStatus(entry: Entry, job: LatestJob | undefined): PipelineStatus {
  const { conversation_id, journey, step, since } = entry;
  const facts = { conversation_id, journey, step, since };
  if (job === undefined) return { ...facts, state: 'none', waiting_for: 'a job; none was started', error: null };
  return {
    ...facts,
    state: job.state,
    waiting_for: describeWait(job),
    error: job.state === 'succeeded' ? null : job.failure,
  };
}

function describeWait({ state, waits, error, attempts, run_at: runAt }: LatestJob): string | null {
  if (state === 'dead' || state === 'cancelled') return 'an operator; the job is not retried automatically';
  if (state !== 'queued') return null;
  if (waits && error !== null) return error;
  return attempts === 0 ? 'a worker' : `its next attempt at ${runAt}`;
}

/** One page of entries. Superseded entries are omitted. */
export interface EntryPage<E extends Entry> {
  readonly items: readonly E[];
  /** Cursor of the next page; null at the end. */
  readonly read: number | null;
}

/**
 * Maximum pages read per request. A filtered list can therefore return fewer rows than requested and still have `next`.
 */
const maxPages = 4;
const pageSize = 500;

/** States with few jobs at any time. A list filtered by one of them starts from the jobs instead of the entries. */
const rareStates = ['queued', 'running', 'dead', 'cancelled'] as const;
const maxRareJobs = 500;

type ListedEntry = Entry & { readonly entry_id: number };

interface ListOptions<E extends ListedEntry> {
  readonly limit: number;
  readonly state: PipelineStatus['state'] | undefined;
  readonly before: number | undefined;
  readonly registry: PipelineRegistry;
  /** Reads a page of entries; `conversation_ids` restricts it to these conversations. */
  readonly readEntries: (page: {
    before?: number;
    conversation_ids?: number[];
    limit: number;
  }) => Promise<EntryPage<E>>;
  /** Reads the latest job of each conversation. */
  readonly readJobs: (type: string, conversationIds: readonly number[]) => Promise<readonly LatestJob[]>;
  readonly readJobsIn: (wanted: {
    state: LatestJob['state'];
    type: string;
    limit: number;
  }) => Promise<readonly { readonly conversation_id: number | null }[]>;
}

interface PipelineStatusPage {
  readonly items: PipelineStatus[];
  /** Cursor of the next page, an entry id; undefined at the end. */
  readonly next: number | undefined;
}

/** Returns a page of conversations in pipeline steps with their jobs, filtered by job state. */
export async function listPipelineStatuses<E extends ListedEntry>(
  options: ListOptions<E>,
): Promise<PipelineStatusPage> {
  return (await listByJobs(options)) ?? (await scanEntries(options));
}

/**
 * Lists the entries, starting from the jobs in the requested state. @returns undefined when too many jobs are in this
 * state
 */
async function listByJobs<E extends ListedEntry>(options: ListOptions<E>): Promise<PipelineStatusPage | undefined> {
  const { limit, state, before, registry, readEntries, readJobsIn } = options;
  const requested = rareStates.find((one) => one === state);
  if (requested === undefined) return undefined;
  const types = new Set([...registry.values()].map(({ jobType }) => jobType));
  const found = await Promise.all(
    [...types].map((type) => readJobsIn({ state: requested, type, limit: maxRareJobs + 1 })),
  );
  const ids = [...new Set(found.flat().flatMap(({ conversation_id: id }) => id ?? []))];
  if (ids.length > maxRareJobs || found.some(({ length }) => length > maxRareJobs)) return undefined;
  if (ids.length === 0) return { items: [], next: undefined };
  const { items: entries } = await readEntries({ ...beforeFilter(before), conversation_ids: ids, limit: maxRareJobs });
  const jobs = await readLatest(entries, options);
  const all = entries.flatMap((entry) => {
    const status = describePipelineStatus(entry, findJob(jobs, entry, registry));
    return status.state === requested ? [{ status, entry }] : [];
  });
  const page = all.slice(0, limit);
  return {
    items: page.map(({ status }) => status),
    next: all.length > limit ? page.at(-1)?.entry.entry_id : undefined,
  };
}

/** Lists the entries page by page and filters them by the state of their jobs. */
async function scanEntries<E extends ListedEntry>(options: ListOptions<E>): Promise<PipelineStatusPage> {
  const { limit, state, registry, readEntries } = options;
  const items: PipelineStatus[] = [];
  let { before } = options;
  let count = state === undefined ? limit : Math.min(2 * limit, pageSize);
  for (let page = 0; page < maxPages; page++) {
    const { items: entries, read } = await readEntries({ ...beforeFilter(before), limit: count });
    const jobs = await readLatest(entries, options);
    for (const entry of entries) {
      const status = describePipelineStatus(entry, findJob(jobs, entry, registry));
      if (state !== undefined && status.state !== state) continue;
      items.push(status);
      if (items.length === limit) {
        const isLast = read === null && entry === entries.at(-1);
        return { items, next: isLast ? undefined : entry.entry_id };
      }
    }
    if (read === null) return { items, next: undefined };
    before = read;
    count = pageSize;
  }
  return { items, next: before };
}

const beforeFilter = (before: number | undefined) => (before === undefined ? {} : { before });

const findJob = (
  jobs: ReadonlyMap<string, LatestJob>,
  entry: Entry,
  registry: PipelineRegistry,
): LatestJob | undefined => jobs.get(`${jobTypeOf(registry, entry)} ${entry.conversation_id}`);

async function readLatest(
  entries: readonly Entry[],
  { registry, readJobs }: Pick<ListOptions<ListedEntry>, 'registry' | 'readJobs'>,
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
