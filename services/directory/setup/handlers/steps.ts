/** Creates, changes and deletes steps of journeys (W5, W16). */
import { recordAudit } from '#libs/infrastructure/audit';
import { badRequest } from '#libs/infrastructure/errors';
import type { FieldChanges } from '#libs/product/history';
import type { JsonObject } from '#libs/infrastructure/json';
import type { HandlersOf, RequestContext } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { journeyEvents } from '../../events/contract.ts';
import { getStep, lockJourneyBySlug } from '../../journeys/index.ts';
import { checkIfMatch } from '../../lists/index.ts';
import { applyItem, checkItem, findSteps, setOrder } from '../../workspace/index.ts';
import { maxItems, type setupRpcs } from '../contract.ts';
import { changesOf, insertAt, slugTaken } from '../rules.ts';
import { findStep, stepRows } from '../statements.ts';
import { checkJob } from './journeys.ts';
import {
  auditChanges,
  countConversations,
  deleteUnused,
  findForWriting,
  replyWith,
  type SetupDependencies,
} from './shared.ts';

type StepHandlers = Pick<HandlersOf<typeof setupRpcs>, 'createStep' | 'updateStep' | 'deleteStep'>;

/** Start of paths of problems: list, journey, `steps` and index. */
const depth = 4;

export function createStepSetupHandlers(deps: SetupDependencies): StepHandlers {
  const { jobs, idempotency, history, pipeline } = deps;

  /** Writes a step at its position and returns its id and the changes of its journey. */
  async function write(
    tx: Tx,
    context: RequestContext,
    { journey, journeyId, step, position }: StepWrite,
  ): Promise<{ id: number; changes: FieldChanges }> {
    checkItem('journeys', { slug: journey, steps: [step] }, depth);
    checkJob(pipeline, step['pipeline_job'] as string | null | undefined);
    const before = await findSteps(tx, { journeyIds: [journeyId] });
    const current = before.findIndex(({ slug }) => slug === step['slug']);
    const { readChanges } = await applyItem(tx, deps, context, 'journeys', { slug: journey, steps: [step] }, depth);
    const after = await findSteps(tx, { journeyIds: [journeyId] });
    const written = after.find(({ slug }) => slug === step['slug']);
    if (written === undefined) throw new Error('the step was not written');
    const others = before.filter(({ id }) => id !== written.id);
    await setOrder(
      tx,
      'steps',
      insertAt(others, written, position ?? (current < 0 ? undefined : current)).map(({ id }) => id),
    );
    return { id: written.id, changes: await readChanges() };
  }

  return {
    createStep: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { journey_slug: journey, position, ...step } = request;
        const { id: journeyId } = await findForWriting(tx, context.actor, () =>
          lockJourneyBySlug(tx, { slug: journey }),
        );
        const stored = await findSteps(tx, { journeyIds: [journeyId] });
        if (stored.some(({ slug }) => slug === step.slug)) throw slugTaken(step.slug);
        if (stored.length >= maxItems) throw badRequest(`A journey has at most ${maxItems} steps.`);
        const { id } = await write(tx, context, { journey, journeyId, step, position });
        recordAudit(tx, context, { target: { type: 'step', id } });
        return replyWith('step', (await getStep(tx, { id })).body);
      }),
    updateStep: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { journey_slug: journey, step_slug: slug, if_match: condition, position, ...fields } = request;
        const found = await findForWriting(tx, context.actor, () => findStep(tx, { journey, step: slug }));
        await lockJourneyBySlug(tx, { slug: journey });
        await checkIfMatch(condition, () => getStep(tx, { id: found.id }));
        const step = { slug, ...fields };
        const { id, changes: all } = await write(tx, context, { journey, journeyId: found.journey_id, step, position });
        const requested = position === undefined ? fields : { ...fields, position };
        const changes = changesOf(all, requested, `steps.${slug}.`);
        auditChanges(tx, context, 'step', id, changes);
        return replyWith('step', (await getStep(tx, { id })).body, changes);
      }),
    deleteStep: async ({ journey_slug: journey, step_slug: step, if_match: condition }, context) => {
      await jobs.transaction(async (tx) => {
        const { id, journey_id: journeyId } = await findForWriting(tx, context.actor, () =>
          findStep(tx, { journey, step }),
        );
        await lockJourneyBySlug(tx, { slug: journey });
        await stepRows.lock(tx, { id });
        await checkIfMatch(condition, () => getStep(tx, { id }));
        await history.recordChanges(tx, context, 'journeys', [journeyId]);
        const count = await countConversations(tx, deps, context, { journeyId, step_id: id });
        await deleteUnused(tx, stepRows, id, { conversations: count });
        const remaining = await findSteps(tx, { journeyIds: [journeyId] });
        await setOrder(
          tx,
          'steps',
          remaining.map((row) => row.id),
        );
        await jobs.emit(tx, journeyEvents.journeysChanged, { ids: [journeyId] });
        recordAudit(tx, context, { target: { type: 'step', id } });
      });
      return {};
    },
  };
}

interface StepWrite {
  readonly journey: string;
  readonly journeyId: number;
  readonly step: JsonObject;
  readonly position: number | undefined;
}
