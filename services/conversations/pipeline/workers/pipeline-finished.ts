/** What a pipeline job has done, as the conversation keeps it: published values, a note, the next step (rules/steps#pipeline-jobs; D6, D18a). */
import type { PayloadOf } from '#libs/contract';
import type { JobRun } from '#libs/jobs';
import { isJsonObject, parseJson } from '#libs/json';
import { publishingSummary, videohostPublish } from '#libs/pipeline';
import type { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { conversationFeed, tellUpdated } from '../../feed/index.ts';
import { addNote } from '../../notes/index.ts';
import type { ConversationRow } from '../../statements.ts';
import { lockConversation } from '../../statements.ts';
import { mergePublishing } from '../publishing-merge.ts';
import { replacePublishing } from '../statements.ts';
import { advance, readJourney } from './advance-step.ts';

/** What the feed is told when a job has published something. */
const publishedBy = new Map([
  [publishingSummary.name, conversationFeed.summaryWritten],
  [videohostPublish.name, conversationFeed.videohostPublished],
]);

type Payload = PayloadOf<typeof conversations.jobs.pipelineFinished>;

/** A repetition changes nothing: the note has a key, the same values are not written again, a step is left once. */
export function createPipelineFinishedWorker(dependencies: Dependencies) {
  return async (run: JobRun<Payload>): Promise<void> => {
    const { conversation_id: id, step_id: stepId, pipeline_job: cause, note, note_key: noteKey, publishing } = run.payload;
    const journey = run.payload.advance ? await readJourney(dependencies, id) : undefined;
    await run.complete(async (tx) => {
      const row = await lockConversation(tx, { id });
      if (row === undefined) return { conversation: 'gone' };
      const merged = publishing === undefined ? undefined : mergePublishing(readStored(row), publishing);
      if (merged?.changed === true) {
        await replacePublishing(tx, { id, publishing: JSON.stringify(merged.publishing) });
        tellUpdated(dependencies.eventOutbox, tx, id);
        const written = publishedBy.get(cause);
        if (written !== undefined) dependencies.eventOutbox.add(tx, written, { subject: id, data: {} });
      }
      if (note !== null) {
        await addNote(tx, { conversationId: id, key: `pipeline:${noteKey}`, type: 'system', body: note, authorPersonId: null });
      }
      const advances = run.payload.advance && stepId !== null;
      const advanced = advances && (await advance(dependencies, tx, { id, stepId, cause, journey, run }));
      return { advanced, published: merged?.changed ?? false, kept: merged?.kept ?? [] };
    });
  };
}

function readStored(row: ConversationRow): unknown {
  const infos = parseJson(row.infos);
  return isJsonObject(infos) && Object.hasOwn(infos, 'publishing') ? infos['publishing'] : undefined;
}
