/** Creates, changes and deletes journeys (W5, W14, W16). */
import { recordAudit } from '#libs/infrastructure/audit';
import { badRequest, notFound } from '#libs/infrastructure/errors';
import { type JsonObject, parseJson } from '#libs/infrastructure/json';
import type { HandlersOf } from '#libs/infrastructure/nats';
import { journeyEvents } from '../../events/contract.ts';
import { getJourney, lockJourneyBySlug } from '../../journeys/index.ts';
import { checkIfMatch } from '../../lists/index.ts';
import { lockWorkspace } from '../../person-rows/index.ts';
import { applyItem, checkItem } from '../../workspace/index.ts';
import type { setupRpcs } from '../contract.ts';
import { changesOf, checkSize, replacementPatch, requireEditor, slugTaken } from '../rules.ts';
import { findJourney, journeyRows } from '../statements.ts';
import {
  auditChanges,
  countConversations,
  deleteUnused,
  findForWriting,
  replyWith,
  type SetupDependencies,
} from './shared.ts';

type JourneyHandlers = Pick<HandlersOf<typeof setupRpcs>, 'createJourney' | 'updateJourney' | 'deleteJourney'>;

export function createJourneySetupHandlers(deps: SetupDependencies): JourneyHandlers {
  const { jobs, idempotency, history, pipeline } = deps;
  return {
    createJourney: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { slug, steps = [] } = request;
        requireEditor(context.actor);
        checkFields(request);
        for (const step of steps) checkJob(pipeline, step.pipeline_job);
        await lockWorkspace(tx);
        if ((await findJourney(tx, { slug })) !== undefined) throw slugTaken(slug);
        const { id } = await applyItem(tx, deps, context, 'journeys', request);
        recordAudit(tx, context, { target: { type: 'journey', id } });
        const written = await getJourney(tx, { slug });
        if (written === undefined) throw notFound();
        return replyWith('journey', written.body);
      }),
    updateJourney: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { journey_slug: slug, if_match: condition, ...fields } = request;
        const { id, texts } = await findForWriting(tx, context.actor, () => findJourney(tx, { slug }));
        await lockJourneyBySlug(tx, { slug });
        await checkIfMatch(condition, () => getJourney(tx, { slug }));
        checkFields({ slug, ...fields });
        const stored = parseJson(texts) as JsonObject;
        const item =
          fields.texts === undefined
            ? fields
            : { ...fields, texts: replacementPatch(stored, fields.texts as JsonObject) };
        const { readChanges } = await applyItem(tx, deps, context, 'journeys', { slug, ...item });
        const changes = changesOf(await readChanges(), fields);
        auditChanges(tx, context, 'journey', id, changes);
        const written = await getJourney(tx, { slug });
        if (written === undefined) throw notFound();
        return replyWith('journey', written.body, changes);
      }),
    deleteJourney: async ({ journey_slug: slug, if_match: condition }, context) => {
      await jobs.transaction(async (tx) => {
        const { id } = await findForWriting(tx, context.actor, () => findJourney(tx, { slug }));
        await journeyRows.lock(tx, { id });
        await checkIfMatch(condition, () => getJourney(tx, { slug }));
        await history.recordChanges(tx, context, 'journeys', [id]);
        const count = await countConversations(tx, deps, context, { journeyId: id, journey_id: id });
        await deleteUnused(tx, journeyRows, id, { conversations: count });
        await jobs.emit(tx, journeyEvents.journeysChanged, { ids: [id] });
        recordAudit(tx, context, { target: { type: 'journey', id } });
      });
      return {};
    },
  };
}

function checkFields(item: JsonObject): void {
  checkSize('texts', item['texts']);
  checkItem('journeys', item);
}

/** @throws AppError 400 for a job that the platform does not have */
export function checkJob(pipeline: SetupDependencies['pipeline'], name: string | null | undefined): void {
  if (name === undefined || name === null || pipeline.has(name)) return;
  throw badRequest(`pipeline_job must be one of ${[...pipeline.keys()].join(', ')}.`);
}
