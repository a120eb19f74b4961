/**
 * ConversationOut as text (rules/conversations#conversationout). JSON that PostgreSQL made is copied, never parsed: digits of big integers stay
 * (rules/http#datetimes-out) and a read costs no parsing.
 */
import type { CachedHolon, CachedJourney, CachedPerson } from './directory-cache/index.ts';
import { idsFromSql, quoteInstant } from './sql-values.ts';
import type { ConversationRow } from './statements.ts';

/** What the directory knows of the row's ids. */
export interface RowReferences {
  readonly person: (id: number) => CachedPerson | undefined;
  readonly holon: (id: number) => CachedHolon | undefined;
  readonly journey: CachedJourney | undefined;
}

const noJourney = '"journey_slug":"","journey_name":"","journey_description":null';

const noTail = '"texts":{},"questions":[]';

const noStep = '"step_slug":"","step_title":""';

const noQuestions = '{"active_question_id":null,"changes":[]}';

/** The JSON text of a conversation. People and holons that the directory no longer knows are left out. */
export function renderConversation(row: ConversationRow, references: RowReferences): string {
  const { journey } = references;
  const step = row.step_id === null ? undefined : journey?.steps.find((item) => item.id === row.step_id);
  return (
    `{"id":${row.id},"participants":[${joinJson(row.participants, references.person)}]` +
    `,"connected":[${joinJson(row.connected, references.holon)}]` +
    `,"infos":${row.infos},"config":${renderConfig(row.config, row.room)}` +
    `,"start":${quoteInstant(row.start)},"finish":${quoteInstant(row.finish)}` +
    `,${journey?.headJson ?? noJourney},${step?.json ?? noStep},${journey?.tailJson ?? noTail}` +
    `,"updated_at":${quoteInstant(row.updated_at)},"question_state":${row.question_state ?? noQuestions}}`
  );
}

/** `config` with the room state under its own key. */
export function renderConfig(config: string, room: string | null): string {
  if (room === null) return config;
  const entry = `"enter-coherence":${room}}`;
  return config === '{}' ? `{${entry}` : `${config.slice(0, -1)}, ${entry}`;
}

/** The JSON texts of the ids that are found, in order. */
export function joinJson(array: string, find: (id: number) => { readonly json: string } | undefined): string {
  let text = '';
  for (const id of idsFromSql(array)) {
    const found = find(id);
    if (found !== undefined) text += text === '' ? found.json : `,${found.json}`;
  }
  return text;
}
