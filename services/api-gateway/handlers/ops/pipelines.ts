/** Handlers of `/api/ops/pipelines`: pipeline steps of conversations with their jobs, and retries (P5). */
import { type LatestJob, maxId } from '#libs/infrastructure/contract';
import { appError, notFound } from '#libs/infrastructure/errors';
import type { RouteHandlers } from '#libs/infrastructure/http';
import { operatorLists, encodePosition } from '#libs/infrastructure/cursor';
import type { CallContext } from '#libs/infrastructure/nats';
import { describePipelineStatus, jobTypeOf, listPipelineStatuses, pipelineJobs } from '#libs/product/pipeline';
import { conversations } from '#services/conversations';
import type { Dependencies } from '../../dependencies.ts';
import { usualLimit } from '../../routes/ops/filters.ts';
import type { pipelineRoutes } from '../../routes/ops/pipelines.ts';
import { badCursor, contracts, findServiceName, parsePosition } from './shared.ts';

const kind = operatorLists.pipelines;

export function createPipelineHandlers({
  bus,
}: Pick<Dependencies, 'bus'>): RouteHandlers<(typeof pipelineRoutes)[number]> {
  const rpcsOf = (type: string) => {
    const name = findServiceName(type.split('.')[0] ?? '');
    if (name === undefined) throw new Error(`no service has the job type ${type}`);
    return contracts[name].rpcs;
  };
  const readJobs = async (type: string, ids: readonly number[], call: CallContext): Promise<readonly LatestJob[]> => {
    const rpcs = rpcsOf(type);
    return (await bus.call(rpcs.findLatestJobs, { type, conversation_ids: [...ids] }, call)).items;
  };
  return {
    'ops-pipelines': async ({ input, call, answer }) => {
      const { limit = usualLimit, cursor, state, ...filter } = input.query;
      const position = parsePosition(kind, cursor);
      const before = position === undefined ? undefined : Number(position.at);
      if (before !== undefined && before > maxId) throw badCursor();
      const { items, next } = await listPipelineStatuses({
        limit,
        state,
        before,
        registry: pipelineJobs,
        readEntries: (page) => bus.call(conversations.rpcs.listPipelines, { ...filter, ...page }, call),
        readJobs: (type, ids) => readJobs(type, ids, call),
        readJobsIn: async (request) => (await bus.call(rpcsOf(request.type).listJobs, request, call)).items,
      });
      answer({
        items,
        next: next === undefined ? null : encodePosition(kind, { at: String(next), source: 'conversations' }),
      });
    },
    'ops-retry': async ({ input, call, answer }) => {
      const { conversation_id: id } = input.params;
      const { items, is_known: isKnown } = await bus.call(
        conversations.rpcs.listPipelines,
        { conversation_id: id, limit: 1 },
        call,
      );
      if (!isKnown) throw notFound('The conversation does not exist.');
      const [entry] = items;
      const type = entry === undefined ? undefined : jobTypeOf(pipelineJobs, entry);
      const [job] = type === undefined ? [] : await readJobs(type, [id], call);
      if (entry === undefined || type === undefined || job === undefined || job.state === 'succeeded')
        throw appError('conflict', 'no_job', 'The conversation has no job that can be retried.');
      const rpcs = rpcsOf(type);
      await bus.call(rpcs.retryJob, { id: job.id, conversation_id: id }, call);
      const [now] = await readJobs(type, [id], call);
      answer(describePipelineStatus(entry, now));
    },
  };
}
