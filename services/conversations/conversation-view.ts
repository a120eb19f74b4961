/** Rows of conversations to ConversationOut, with one directory look-up for everything that is not cached. */
import type { DirectoryCache } from './directory-cache/index.ts';
import { renderConversation } from './representation.ts';
import { idsFromSql } from './sql-values.ts';
import type { ConversationRow } from './statements.ts';

/** Only what the view reads of the directory, so that it can be tested without a bus. */
export type ViewDirectory = Pick<DirectoryCache, 'people' | 'holons' | 'journeys'>;

export class ConversationView {
  readonly #directory: ViewDirectory;

  constructor(directory: ViewDirectory) {
    this.#directory = directory;
  }

  /** The JSON text of one conversation. @throws AppError unavailable, deadline_exceeded */
  async render(row: ConversationRow): Promise<string> {
    const [text] = await this.renderMany([row]);
    return text ?? '';
  }

  /** The JSON texts, in order. @throws AppError unavailable, deadline_exceeded */
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
