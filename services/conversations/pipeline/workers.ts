/**
 * Processes reports of pipeline jobs: publishes values, adds a note, advances the step (rules/steps#pipeline-jobs; D6,
 * D18a).
 */
import type { PayloadOf } from '#libs/infrastructure/contract';
import type { JobRun } from '#libs/infrastructure/jobs';
import { isJsonObject, parseJson } from '#libs/infrastructure/json';
import type { Tx } from '#libs/infrastructure/orm';
import { publishingSummary, videohostPublish } from '#libs/product/pipeline';
import { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import type { CachedJourney } from '../directory-cache/index.ts';
import { conversationFeed, emitUpdated } from '../feed/index.ts';
import { addNote, type ConversationRow, findConversation, lockConversation, moveConversation } from '../statements.ts';
import { nextStep } from '../directory-cache/index.ts';
import { enterStep } from './index.ts';
import { mergePublishing } from './publishing-merge.ts';
import { replacePublishing } from './statements.ts';

/** Feed event that is emitted for each publishing job. */
const publishedBy = new Map([
  [publishingSummary.name, conversationFeed.summaryWritten],
  [videohostPublish.name, conversationFeed.videohostPublished],
]);

/**
 * Creates the job that processes reports. It is idempotent: notes have a key, unchanged values are not written, and a
 * conversation advances once from a step.
 */
export function createPipelineFinishedWorker(dependencies: Dependencies) {
  return async (run: JobRun<PayloadOf<typeof conversations.jobs.pipelineFinished>>): Promise<void> => {
    const {
      conversation_id: id,
      step_id: stepId,
      pipeline_job: cause,
      note,
      note_key: noteKey,
      publishing,
    } = run.payload;
    const journey = run.payload.advance ? await readJourney(dependencies, id) : undefined;
    await run.complete(async (tx) => {
      const row = await lockConversation(tx, { id });
      if (row === undefined) return { conversation: 'gone' };
      const merged = publishing === undefined ? undefined : mergePublishing(readStored(row), publishing);
      if (merged?.changed === true) {
        await replacePublishing(tx, { id, publishing: JSON.stringify(merged.publishing) });
        emitUpdated(dependencies.eventOutbox, tx, id);
        const written = publishedBy.get(cause);
        if (written !== undefined) dependencies.eventOutbox.add(tx, written, { subject: id, data: {} });
      }
      if (note !== null) {
        await addNote(tx, {
          conversationId: id,
          key: `pipeline:${noteKey}`,
          type: 'system',
          body: note,
          authorPersonId: null,
        });
      }
      const advances = run.payload.advance && stepId !== null;
      const advanced = advances && (await advance(dependencies, tx, { id, stepId, cause, journey, run }));
      return { advanced, published: merged?.changed ?? false, kept: merged?.retained ?? [] };
    });
  };
}

function readStored(row: ConversationRow): unknown {
  const infos = parseJson(row.infos);
  return isJsonObject(infos) && Object.hasOwn(infos, 'publishing') ? infos['publishing'] : undefined;
}

export function createAdvanceStepWorker(dependencies: Dependencies) {
  return async (run: JobRun<PayloadOf<typeof conversations.jobs.advanceStep>>): Promise<void> => {
    const { conversation_id: id, step_id: stepId, cause } = run.payload;
    const journey = await readJourney(dependencies, id);
    return run.complete(async (tx) => ({
      advanced: await advance(dependencies, tx, { id, stepId, cause, journey, run }),
    }));
  };
}

/** Returns the journey of a conversation. It is read before the transaction starts. */
export async function readJourney({ db, directory }: Dependencies, id: number): Promise<CachedJourney | undefined> {
  const row = await findConversation(db, { id });
  const journeyId = row?.journey_id ?? 0;
  return (await directory.journeys.getMany(journeyId === 0 ? [] : [journeyId])).get(journeyId);
}

/** Advances the conversation to the next step and adds a note, if `stepId` is still the current step. */
export async function advance(
  dependencies: Dependencies,
  tx: Tx,
  move: { id: number; stepId: number; cause: string; journey: CachedJourney | undefined; run: JobRun<unknown> },
): Promise<boolean> {
  const { id, stepId, cause, journey, run } = move;
  const current = journey?.steps.find((step) => step.id === stepId);
  const next = nextStep(journey?.steps ?? [], stepId);
  if (next === undefined || (await moveConversation(tx, { id, to: next.id, from: stepId })) === undefined) return false;
  const body = `${cause} finished: ${current?.title ?? 'no step'} → ${next.title}`;
  await addNote(tx, { conversationId: id, key: `advance:${run.id}`, type: 'step_change', body, authorPersonId: null });
  await enterStep(dependencies, tx, id, { journey, step: next }, cause, run);
  await dependencies.jobs.emit(tx, conversations.events.changed, { id });
  return true;
}

/**
 * Runs the job `conversations.words-erased`. It adds a note to conversations whose published texts were generated
 * before words were erased from the transcript, because only people can decide whether the texts contain the erased
 * words.
 */
export async function workWordsErased(run: JobRun<PayloadOf<typeof conversations.jobs.wordsErased>>): Promise<void> {
  const { conversation_id: id } = run.payload;
  await run.complete(async (tx) => {
    const row = await lockConversation(tx, { id });
    if (row === undefined) return { conversation: 'gone' };
    const texts = listGeneratedTexts(parseJson(row.infos));
    if (texts.length === 0) return { texts };
    const body =
      `Words of this transcript were erased after texts had been made from it: ${texts.join(', ')}. ` +
      'Read them, and change or remove what must not stay.';
    await addNote(tx, {
      conversationId: id,
      key: `words-erased:${run.id}`,
      type: 'system',
      body,
      authorPersonId: null,
    });
    return { texts };
  });
}

/** Returns the names of fields that the summary job wrote, edited or not, and of the video text that uses them. */
function listGeneratedTexts(infos: unknown): string[] {
  const publishing = toObject(toObject(infos)['publishing']);
  const fields = Object.entries(toObject(unwrap(publishing['fields'])))
    .filter(([, value]) => sourceOf(value) === publishingSummary.name)
    .map(([name]) => name);
  const video = toObject(unwrap(publishing['records']))['videohost'];
  return fields.length > 0 && sourceOf(video) === videohostPublish.name
    ? [...fields, 'the text of the video on its host']
    : fields;
}

const toObject = (value: unknown): Readonly<Record<string, unknown>> => (isJsonObject(value) ? value : {});

/** Returns the value of a provenance envelope (D18a). */
const unwrap = (value: unknown): unknown =>
  isJsonObject(value) && isJsonObject(value['provenance']) ? value['value'] : value;

const sourceOf = (value: unknown): unknown => toObject(toObject(value)['provenance'])['source'];
