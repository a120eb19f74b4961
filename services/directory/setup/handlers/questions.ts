/** Lists, creates and changes questions of journeys (W5, W16). */
import { recordAudit } from '#libs/infrastructure/audit';
import { badRequest, notFound } from '#libs/infrastructure/errors';
import type { FieldChanges } from '#libs/product/history';
import type { JsonObject } from '#libs/infrastructure/json';
import type { HandlersOf, RequestContext } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { journeyEvents } from '../../events/contract.ts';
import { lockJourneyBySlug } from '../../journeys/index.ts';
import { checkIfMatch } from '../../lists/index.ts';
import { allocateRowIds, checkItem, findQuestions, insertAll, setOrder, updateAll } from '../../workspace/index.ts';
import { type JourneyQuestion, maxItems, type setupRpcs } from '../contract.ts';
import { insertAt, requireEditor } from '../rules.ts';
import { findJourney } from '../statements.ts';
import { auditChanges, findForWriting, replyWith, type SetupDependencies } from './shared.ts';

type QuestionHandlers = Pick<HandlersOf<typeof setupRpcs>, 'listQuestions' | 'createQuestion' | 'updateQuestion'>;

/** Start of paths of problems: list, journey, `questions` and index. */
const depth = 4;
const defaultLimit = 200;

export function createQuestionSetupHandlers(deps: SetupDependencies): QuestionHandlers {
  const { db, jobs, idempotency, history } = deps;

  /** Locks a journey, before one of its questions is written. */
  async function lockForWriting(tx: Tx, context: RequestContext, slug: string): Promise<number> {
    const { id } = await findForWriting(tx, context.actor, () => lockJourneyBySlug(tx, { slug }));
    await history.recordChanges(tx, context, 'journeys', [id]);
    return id;
  }

  return {
    listQuestions: async ({ journey_slug: slug, limit = defaultLimit, cursor }, { actor }) => {
      const journey = await findJourney(db, { slug });
      if (journey === undefined) throw notFound();
      requireEditor(actor);
      const from = readCursor(cursor);
      const all = await readQuestions(db, journey.id);
      return {
        items: all.slice(from, from + limit),
        next: from + limit < all.length ? String(from + limit) : null,
      };
    },
    createQuestion: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { journey_slug: slug, text, position, is_archived: isArchived = false } = request;
        const journeyId = await lockForWriting(tx, context, slug);
        checkText(slug, text);
        const stored = await readQuestions(tx, journeyId);
        if (stored.length >= maxItems) throw badRequest(`A journey has at most ${maxItems} questions.`);
        const [id = 0] = await allocateRowIds(tx, 'questions', 1);
        const values = { journey_id: journeyId, text, position: stored.length, is_retired: isArchived };
        await insertAll(tx, 'questions', [{ id, values }]);
        await setOrder(
          tx,
          'questions',
          insertAt(
            stored.map((question) => question.id),
            id,
            position,
          ),
        );
        await jobs.emit(tx, journeyEvents.journeysChanged, { ids: [journeyId] });
        recordAudit(tx, context, { target: { type: 'question', id } });
        return replyWith('question', JSON.stringify(await readQuestion(tx, journeyId, id)));
      }),
    updateQuestion: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { journey_slug: slug, question_id: id, if_match: condition, text, position } = request;
        const journeyId = await lockForWriting(tx, context, slug);
        const stored = await readQuestions(tx, journeyId);
        const before = stored.find((question) => question.id === id);
        if (before === undefined) throw notFound();
        await checkIfMatch(condition, () => Promise.resolve({ body: JSON.stringify(before) }));
        const isArchived = request.is_archived ?? before.is_archived;
        if (text !== undefined) checkText(slug, text);
        await updateAll(tx, 'questions', [{ id, values: { text: text ?? before.text, is_retired: isArchived } }]);
        const others = stored.filter((question) => question.id !== id).map((question) => question.id);
        await setOrder(tx, 'questions', insertAt(others, id, position ?? before.position));
        const after = await readQuestion(tx, journeyId, id);
        const changes = changesBetween(before, after, request);
        if (Object.keys(changes).length > 0) await jobs.emit(tx, journeyEvents.journeysChanged, { ids: [journeyId] });
        auditChanges(tx, context, 'question', id, changes);
        return replyWith('question', JSON.stringify(after), changes);
      }),
  };
}

async function readQuestions(db: Queryable, journeyId: number): Promise<JourneyQuestion[]> {
  const rows = await findQuestions(db, { journeyIds: [journeyId] });
  return rows.map(({ id, text, is_retired: isArchived }, position) => ({
    id,
    text,
    position,
    is_archived: isArchived,
  }));
}

async function readQuestion(db: Queryable, journeyId: number, id: number): Promise<JourneyQuestion> {
  const found = (await readQuestions(db, journeyId)).find((question) => question.id === id);
  if (found === undefined) throw notFound();
  return found;
}

/** @throws AppError 400 */
function checkText(slug: string, text: string): void {
  checkItem('journeys', { slug, questions: [{ text }] }, depth);
}

function changesBetween(before: JourneyQuestion, after: JourneyQuestion, request: JsonObject): FieldChanges {
  const names = (['text', 'position', 'is_archived'] as const).filter(
    (name) => request[name] !== undefined && before[name] !== after[name],
  );
  return Object.fromEntries(names.map((name) => [name, { old: before[name], new: after[name] }]));
}

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (!/^[1-9]\d{0,3}$/.test(cursor)) throw badRequest('cursor must be the `next` of an earlier page.');
  return Number(cursor);
}
