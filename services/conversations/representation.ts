/**
 * Renders conversations as JSON (rules/conversations#conversationout) and converts SQL values. JSON from PostgreSQL is
 * copied without parsing, so that big integers retain their digits (rules/http#datetimes-out) and reads are fast.
 */
import { type Instant, parseInstant } from '#libs/infrastructure/time';
import type { CachedHolon, CachedJourney, CachedPerson, DirectoryCache } from './directory-cache/index.ts';
import type { ConversationRow } from './statements.ts';

/**
 * Returns an SQL timestamp (UTC, without offset) in the API format (rules/http#datetimes-out): with `Z`, and six or no
 * fractional digits.
 */
export function instantFromSql(text: string): string {
  const dot = text.indexOf('.');
  if (dot < 0) return `${text.slice(0, 10)}T${text.slice(11)}Z`;
  return `${text.slice(0, 10)}T${text.slice(11, dot)}.${text.slice(dot + 1).padEnd(6, '0')}Z`;
}

/** Returns null for null, else the result of `instantFromSql`. */
export const instantOrNull = (text: string | null): string | null => (text === null ? null : instantFromSql(text));

/** Returns an SQL timestamp as microseconds. */
export function parseSqlInstant(text: string): Instant {
  const parsed = parseInstant(instantFromSql(text));
  if (parsed.kind !== 'instant') throw new Error('not an SQL timestamp in UTC');
  return parsed.instant;
}

/** Returns `"…Z"` or `null` as JSON. */
export const quoteInstant = (text: string | null): string => (text === null ? 'null' : `"${instantFromSql(text)}"`);

/** Returns the ids of an SQL array, `{1,2}`. */
export function idsFromSql(array: string): number[] {
  return array === '{}' ? [] : array.slice(1, -1).split(',').map(Number);
}

/** Directory data for the ids in a row. */
export interface RowReferences {
  readonly person: (id: number) => CachedPerson | undefined;
  readonly holon: (id: number) => CachedHolon | undefined;
  readonly journey: CachedJourney | undefined;
}

const noJourney = '"journey_slug":"","journey_name":"","journey_description":null';

const noTail = '"texts":{},"questions":[]';

const noStep = '"step_slug":"","step_title":""';

const noQuestions = '{"active_question_id":null,"changes":[]}';

/** Returns the JSON of a conversation, without people and holons that no longer exist. */
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

/** Returns `config` including the room state. */
export function renderConfig(config: string, room: string | null): string {
  if (room === null) return config;
  const entry = `"enter-coherence":${room}}`;
  return config === '{}' ? `{${entry}` : `${config.slice(0, -1)}, ${entry}`;
}

/** Returns the JSON of the ids that exist, in order and separated by commas. */
export function joinJson(array: string, find: (id: number) => { readonly json: string } | undefined): string {
  let text = '';
  for (const id of idsFromSql(array)) {
    const found = find(id);
    if (found !== undefined) text += text === '' ? found.json : `,${found.json}`;
  }
  return text;
}

/** Methods of the directory cache that rendering requires, so that tests need no bus. */
export type ViewDirectory = Pick<DirectoryCache, 'people' | 'holons' | 'journeys'>;

export class ConversationView {
  readonly #directory: ViewDirectory;

  constructor(directory: ViewDirectory) {
    this.#directory = directory;
  }

  /** Returns the JSON of one conversation. @throws AppError unavailable, deadline_exceeded */
  async render(row: ConversationRow): Promise<string> {
    const [text] = await this.renderMany([row]);
    return text ?? '';
  }

  /** Returns the JSON of conversations, in order. @throws AppError unavailable, deadline_exceeded */
  async renderMany(rows: readonly ConversationRow[]): Promise<string[]> {
    const { people, holons, journeys } = this.#directory;
    const [findPerson, findHolon, findJourney] = await Promise.all([
      people.lookUp(rows.flatMap((row) => idsFromSql(row.participants))),
      holons.lookUp(rows.flatMap((row) => idsFromSql(row.connected))),
      journeys.lookUp(rows.flatMap((row) => row.journey_id ?? [])),
    ]);
    return rows.map((row) =>
      renderConversation(row, {
        person: findPerson,
        holon: findHolon,
        journey: row.journey_id === null ? undefined : findJourney(row.journey_id),
      }),
    );
  }
}
