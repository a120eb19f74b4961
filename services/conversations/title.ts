import { parseJson } from '#libs/json';
import { readPublishing, stripProvenance } from './publishing.ts';

/** JSON texts out of `infos` that the title is read from; see `titleColumns`. */
export interface TitleSource {
  readonly id: number;
  /** `publishing.fields.title`. */
  readonly title: string | null;
  /** The whole `publishing` when an envelope stands around the fields. */
  readonly enveloped: string | null;
  /** Begins with the date in UTC. */
  readonly start: string | null;
}

/**
 * Title of a conversation (D18a, D18b): the publishing field, read through provenance envelopes, else a fallback made of
 * the start's date in UTC, else of the id. A blank title counts as unset.
 */
export function conversationTitle({ id, title, enveloped, start }: TitleSource): string {
  if (title !== null) return chooseTitle(id, stripProvenance(parseJson(title)), start);
  const fields = enveloped === null ? {} : readPublishing(parseJson(enveloped)).payload.fields;
  return chooseTitle(id, fields['title'], start);
}

/** As `conversationTitle`, of a field that is read already. */
export function chooseTitle(id: number, field: unknown, start: string | null): string {
  if (typeof field === 'string' && field.trim() !== '') return field;
  return `Conversation ${start === null ? id : `of ${start.slice(0, 10)}`}`;
}
