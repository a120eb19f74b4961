/**
 * Lists conversations in steps with a pipeline job (P5). The service that owns the job reports the state of the job.
 */
import { requireOpsReader } from '#libs/infrastructure/actor';
import { type Actor, isPossibleId, type ReplyOf, type RequestOf } from '#libs/infrastructure/contract';
import type { Dependencies } from '../dependencies.ts';
import type { PipelineEntry, pipelineRpcs } from './contract.ts';
import { isConversation, listCurrentEntries } from './statements.ts';

type Request = RequestOf<typeof pipelineRpcs.listPipelines>;
type Reply = ReplyOf<typeof pipelineRpcs.listPipelines>;

const nothing: Reply = { items: [], read: null, is_known: true };

export function createPipelineHandlers({ db, directory }: Pick<Dependencies, 'db' | 'directory'>) {
  /** Returns the ids of the requested steps, so that rare steps are found by index; returns undefined for any step. */
  const findStepIds = async (
    slug: string | undefined,
    step: string | undefined,
  ): Promise<readonly number[] | undefined> => {
    if (slug === undefined) return step === undefined ? undefined : await directory.findSteps(step);
    const steps = (await directory.findJourneyBySlug(slug))?.steps ?? [];
    return steps.filter((own) => step === undefined || own.slug === step).map(({ id }) => id);
  };
  const list = async ({
    journey: slug,
    step,
    conversation_id: conversationId,
    before,
    limit,
    ...request
  }: Request): Promise<Reply> => {
    const conversationIds = conversationId === undefined ? request.conversation_ids : [conversationId];
    const isKnown =
      conversationId === undefined ||
      (isPossibleId(conversationId) && (await isConversation(db, { id: conversationId })).known);
    if (!isKnown) return { ...nothing, is_known: false };
    const stepIds = await findStepIds(slug, step);
    if (stepIds?.length === 0) return nothing;
    const rows = await listCurrentEntries(db, { stepIds, conversationIds, before, limit });
    const journeys = await directory.journeys.getMany(rows.map((row) => row.journey_id));
    const items = rows.flatMap((row): PipelineEntry[] => {
      const journey = journeys.get(row.journey_id);
      const entered = journey?.steps.find(({ id }) => id === row.step_id);
      if (journey === undefined || entered === undefined) return [];
      const { id, conversation_id: conversation, pipeline_job: pipelineJob, since } = row;
      return [
        {
          entry_id: id,
          conversation_id: conversation,
          journey: journey.slug,
          step: entered.slug,
          since,
          pipeline_job: pipelineJob,
        },
      ];
    });
    return { items, read: rows.length < limit ? null : (rows.at(-1)?.id ?? null), is_known: true };
  };
  return {
    listPipelines: (request: Request, { actor }: { readonly actor?: Actor | undefined }): Promise<Reply> => {
      requireOpsReader(actor);
      return list(request);
    },
  };
}
