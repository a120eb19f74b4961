/** Rows to search items and public conversations, as far as the caller sees them; one look-up of each kind for a whole batch. */
import type { CachedHolon, DirectoryCache, HolonVisibility } from '../directory-cache/index.ts';
import type { RowReferences } from '../representation.ts';
import { idsFromSql } from '../sql-values.ts';
import { renderPublicConversation, renderSearchItem } from './rules.ts';
import type { PublicRow } from './statements/browse.ts';
import type { SearchRow } from './statements/search.ts';
import type { ShownRow } from '../statements.ts';

/** Whether the people and journeys of the rows are kept in the caches: not those of a long answer, which would drive out what others use. */
interface Keeping {
  readonly keep: boolean;
}

type Render<Row> = (row: Row, event: CachedHolon | undefined, references: RowReferences) => string;

/** JSON texts of search items, in order; what belongs to an event that the caller does not see is left out (D18f). */
export async function renderSearchItems(
  directory: DirectoryCache,
  visibility: HolonVisibility,
  rows: readonly SearchRow[],
  keeping: Keeping,
): Promise<string[]> {
  return (await renderRows(directory, visibility, rows, renderSearchItem, keeping)).map(({ text }) => text);
}

/** The same of public conversations, with their rows. */
export async function renderPublicConversations(
  directory: DirectoryCache,
  visibility: HolonVisibility,
  rows: readonly PublicRow[],
  keeping: Keeping,
): Promise<{ row: PublicRow; text: string }[]> {
  return renderRows(directory, visibility, rows, (row, _event, references) => renderPublicConversation(row, references), keeping);
}

async function renderRows<Row extends ShownRow>(
  directory: DirectoryCache,
  visibility: HolonVisibility,
  rows: readonly Row[],
  render: Render<Row>,
  { keep }: Keeping,
): Promise<{ row: Row; text: string }[]> {
  const [person, holons, findJourney] = await Promise.all([
    directory.people.lookUp(
      rows.flatMap((row) => idsFromSql(row.participants)),
      keep,
    ),
    visibility.lookUp(rows.flatMap((row) => [...idsFromSql(row.connected), row.event_id ?? []].flat())),
    directory.journeys.lookUp(
      rows.flatMap((row) => row.journey_id ?? []),
      keep,
    ),
  ]);
  const shown = rows.filter((row) => row.event_id === null || !holons.isHidden(row.event_id));
  return shown.map((row) => {
    const journey = row.journey_id === null ? undefined : findJourney(row.journey_id);
    const event = row.event_id === null ? undefined : holons.find(row.event_id);
    return { row, text: render(row, event, { person, holon: holons.find, journey }) };
  });
}
