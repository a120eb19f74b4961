/** Texts that were published before words in their transcript were erased get a note: only people can say whether they hold those words. */
import type { PayloadOf } from '#libs/contract';
import type { JobRun } from '#libs/jobs';
import { isJsonObject, parseJson } from '#libs/json';
import { publishingSummary, videohostPublish } from '#libs/pipeline';
import type { conversations } from '../../contract.ts';
import { addNote } from '../../notes/index.ts';
import { lockConversation } from '../../statements.ts';

type Payload = PayloadOf<typeof conversations.jobs.wordsErased>;

/** Job `conversations.words-erased`. */
export async function workWordsErased(run: JobRun<Payload>): Promise<void> {
  const { conversation_id: id } = run.payload;
  await run.complete(async (tx) => {
    const row = await lockConversation(tx, { id });
    if (row === undefined) return { conversation: 'gone' };
    const texts = listMadeTexts(parseJson(row.infos));
    if (texts.length === 0) return { texts };
    const body =
      `Words of this transcript were erased after texts had been made from it: ${texts.join(', ')}. ` +
      'Read them, and change or remove what must not stay.';
    await addNote(tx, { conversationId: id, key: `words-erased:${run.id}`, type: 'system', body, authorPersonId: null });
    return { texts };
  });
}

/** Fields that a summary wrote, changed by a person or not, and the video whose description they are. */
function listMadeTexts(infos: unknown): string[] {
  const publishing = toObject(toObject(infos)['publishing']);
  const fields = Object.entries(toObject(unwrap(publishing['fields'])))
    .filter(([, value]) => sourceOf(value) === publishingSummary.name)
    .map(([name]) => name);
  const video = toObject(unwrap(publishing['records']))['videohost'];
  return fields.length > 0 && sourceOf(video) === videohostPublish.name ? [...fields, 'the text of the video on its host'] : fields;
}

const toObject = (value: unknown): Readonly<Record<string, unknown>> => (isJsonObject(value) ? value : {});

/** The value of an envelope (D18a). */
const unwrap = (value: unknown): unknown => (isJsonObject(value) && isJsonObject(value['provenance']) ? value['value'] : value);

const sourceOf = (value: unknown): unknown => toObject(toObject(value)['provenance'])['source'];
