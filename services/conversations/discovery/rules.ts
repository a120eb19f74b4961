/**
 * Renders search items and public conversations as JSON (rules/discovery#search-and-summary,
 * rules/discovery#publicconversation; D5, D18a).
 */
import { parseJson } from '#libs/infrastructure/json';
import { fold } from '#libs/infrastructure/text';
import type { CachedHolon, CachedJourney } from '../directory-cache/index.ts';
import { chooseTitle, conversationTitle, readPublishing } from '../publishing.ts';
import { joinJson, quoteInstant, type RowReferences } from '../representation.ts';
import type { PublicRow, SearchRow } from './statements.ts';
import type { SummaryRow } from '../statements.ts';

const noJourney = '{"slug":"","name":"","description":""}';
const noStep = '{"slug":"","title":""}';

export function renderSearchItem(row: SearchRow, event: CachedHolon | undefined, references: RowReferences): string {
  const { journey } = references;
  return (
    `{"id":${row.id},"title":${JSON.stringify(conversationTitle(row))},"event":${event?.json ?? 'null'}` +
    `,"journey":${journey?.searchJson ?? noJourney},${renderBounds(row, journey)},${renderPeople(row, references)}}`
  );
}

/** Returns the JSON of a public conversation. Of `infos` it contains only the publishing groups, without provenance. */
export function renderPublicConversation(row: PublicRow, references: RowReferences): string {
  const publishing = readPublishing(row.publishing === null ? undefined : parseJson(row.publishing));
  const visible = {
    publishing: publishing.payload,
    public: {
      summary: publishing.summary,
      thumbnail: publishing.thumbnail,
      videohost_description: publishing.videohostDescription,
    },
  };
  const title = chooseTitle(row.id, publishing.payload.fields['title'], row.start);
  return (
    `{"id":${row.id},"title":${JSON.stringify(title)},${renderBounds(row, references.journey)},${renderPeople(row, references)}` +
    `,${JSON.stringify(visible).slice(1)}`
  );
}

function renderBounds(row: SummaryRow, journey: CachedJourney | undefined): string {
  const step = row.step_id === null ? undefined : journey?.steps.find((item) => item.id === row.step_id);
  return `"step":${step?.searchJson ?? noStep},"start":${quoteInstant(row.start)},"finish":${quoteInstant(row.finish)}`;
}

function renderPeople(row: SummaryRow, { person, holon }: RowReferences): string {
  return `"participants":[${joinJson(row.participants, person)}],"connected":[${joinJson(row.connected, holon)}]`;
}

/** Returns the words of a search text, folded (D87). */
export const searchWords = (text: string | undefined): string[] =>
  fold(text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '');

/** Returns whether each word is contained in one of the texts. */
export function containsWords(words: readonly string[], texts: readonly string[]): boolean {
  const folded = texts.map(fold);
  return words.every((word) => folded.some((text) => text.includes(word)));
}
