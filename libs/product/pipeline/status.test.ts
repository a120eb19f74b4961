import { describe, expect, it } from '@jest/globals';
import type { LatestJob } from '#libs/infrastructure/contract';
import { listPipelineStatuses, pipelineJobs } from './index.ts';
import type { PipelineStatus } from './status.ts';

type State = LatestJob['state'];

const type = 'transcripts.transcript-import';
const entryOf = (id: number) => ({
  entry_id: 1_000 + id,
  conversation_id: id,
  journey: 'circle',
  step: 'import',
  since: '2026-05-01T10:00:00Z',
  pipeline_job: 'transcript_import',
});
const jobOf = (id: number, state: State): LatestJob => ({
  id: `00000000-0000-7000-8000-${String(id).padStart(12, '0')}`,
  type,
  conversation_id: id,
  state,
  attempts: 1,
  run_at: '2026-05-01T10:00:00Z',
  error: null,
  waits: false,
  failure: null,
});

/**
 * Simulates two services. Conversations 1 to `count` are in the step, the last one entered last; `stateOf` returns the
 * states of their jobs.
 */
function world(count: number, stateOf: (id: number) => State | undefined) {
  const entries = Array.from({ length: count }, (_, index) => entryOf(count - index));
  const jobs = entries.flatMap(({ conversation_id: id }) => {
    const state = stateOf(id);
    return state === undefined ? [] : [jobOf(id, state)];
  });
  const asked: (readonly number[] | undefined)[] = [];
  const list = (state: PipelineStatus['state'], limit: number, before?: number) =>
    listPipelineStatuses({
      limit,
      state,
      before,
      registry: pipelineJobs,
      readEntries: async ({ before: behind, conversation_ids: ids, limit: most }) => {
        asked.push(ids);
        const all = entries.filter(
          (entry) =>
            (behind === undefined || entry.entry_id < behind) &&
            (ids === undefined || ids.includes(entry.conversation_id)),
        );
        const items = all.slice(0, most);
        return { items, read: items.length < most ? null : (items.at(-1)?.entry_id ?? null) };
      },
      readJobs: async (of, ids) => jobs.filter((job) => job.type === of && ids.includes(job.conversation_id)),
      readJobsIn: async (wanted) =>
        jobs.filter((job) => job.type === wanted.type && job.state === wanted.state).slice(0, wanted.limit),
    });
  /** All pages. */
  const listAll = async (state: PipelineStatus['state'], limit: number): Promise<number[]> => {
    const ids: number[] = [];
    let next: number | undefined;
    do {
      const page = await list(state, limit, next);
      ids.push(...page.items.map(({ conversation_id: id }) => id));
      ({ next } = page);
    } while (next !== undefined);
    return ids;
  };
  return { list, listAll, asked };
}

describe('listPipelineStatuses (P5)', () => {
  it('finds conversations in a rare job state by a job query, in full pages, latest step entry first', async () => {
    const { list, listAll, asked } = world(20_000, (id) => (id <= 7 ? 'dead' : 'succeeded'));
    const { items, next } = await list('dead', 3);
    expect(items.map(({ conversation_id: id, state }) => [id, state])).toEqual([7, 6, 5].map((id) => [id, 'dead']));
    expect(next).toBe(1_005);
    expect(await listAll('dead', 3)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(asked.every((ids) => ids !== undefined && ids.length === 7)).toBe(true);
  });

  it('reads no step entries when no job has the requested state', async () => {
    const { list, asked } = world(20_000, () => 'succeeded');
    expect(await list('running', 50)).toEqual({ items: [], next: undefined });
    expect(asked).toEqual([]);
  });

  it.each<[string, PipelineStatus['state'], (id: number) => State | undefined, (id: number) => boolean]>([
    ['those of a state that many are in', 'dead', (id) => (id % 3 === 0 ? 'dead' : 'succeeded'), (id) => id % 3 === 0],
    ['those that are done', 'succeeded', (id) => (id % 3 === 0 ? 'succeeded' : 'dead'), (id) => id % 3 === 0],
    ['those without a job', 'none', (id) => (id % 100 === 0 ? undefined : 'succeeded'), (id) => id % 100 === 0],
  ])('finds %s in one scan of the step entries', async (_what, state, stateOf, belongs) => {
    const { listAll, asked } = world(3_000, stateOf);
    const expected = Array.from({ length: 3_000 }, (_, index) => 3_000 - index).filter(belongs);
    expect(await listAll(state, 50)).toEqual(expected);
    expect(asked.every((ids) => ids === undefined)).toBe(true);
  });
});
