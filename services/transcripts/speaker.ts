/**
 * Who spoke (D24, D24a): a speaker is the provider's `cpi`, matched with the room participants that the conversation
 * stored; never guessed from a name. Speakers that match nobody are numbered by their first appearance, and keep their number.
 */
import { createHash } from 'node:crypto';
import { isPossibleId } from '#libs/contract';
import type { JsonObject } from '#libs/json';
import { toSingleLine } from '#libs/text';
import type { AcceptedRow } from './row-filter.ts';

/** Limit of distinct speakers of an artifact. */
export const maxSpeakers = 10_000;
const maxDisplayNameLength = 200;
const maxKeyLength = 200;

export interface Speaker {
  /** Identity within the conversation, made of the provider's ids. */
  readonly key: string;
  /** The provider's custom participant id, which is what the room gave it. */
  readonly cpi: string | null;
  readonly displayName: string | null;
}

/** A room participant as the conversation stored it. */
export interface RoomParticipant {
  readonly customParticipantId: string;
  readonly personId: number | null;
}

/** A speaker as it is stored. */
export interface StoredSpeaker {
  readonly key: string;
  /** N of `Unresolved speaker N`; kept when the speaker is resolved later. */
  readonly number: number | null;
  readonly personId: number | null;
  readonly displayName: string | null;
  /** A person who was erased: their words and their name are not stored again. */
  readonly erased: boolean;
}

/** Id that the rows of a speaker carry: a person's, or −N. */
export function attributedId(speaker: Pick<StoredSpeaker, 'personId' | 'number'>): number {
  return speaker.personId ?? -(speaker.number ?? 0);
}

/** Reads the provider's description of a speaker. Without any id the display name tells speakers apart. */
export function parseSpeaker(peer: JsonObject): Speaker {
  const cpi = readText(peer['cpi']);
  const displayName = readText(peer['displayName']);
  const identities = [
    ['cpi', cpi],
    ['user', readText(peer['userId'])],
    ['peer', readText(peer['id'])],
    ['name', displayName],
  ] as const;
  const [kind, value] = identities.find(([, text]) => text !== null) ?? ['none', ''];
  const key = `${kind}:${value ?? ''}`;
  return {
    key: key.length <= maxKeyLength ? key : `${kind}#${createHash('sha256').update(key).digest('hex')}`,
    cpi,
    displayName: toSingleLine(displayName?.slice(0, maxDisplayNameLength) ?? '') || null,
  };
}

function readText(value: unknown): string | null {
  const text = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  const clean = text.replaceAll('\u0000', '').toWellFormed().trim();
  return clean === '' ? null : clean;
}

/** Collects the speakers of the accepted rows, with the place of their first appearance in the stored order. */
export class SpeakerCollector {
  readonly #speakers = new Map<string, { speaker: Speaker; startUs: bigint; position: number }>();

  /** False when the limit of speakers is exceeded. */
  add(row: AcceptedRow, position: number): boolean {
    const speaker = parseSpeaker(row.peer);
    const known = this.#speakers.get(speaker.key);
    if (known === undefined) {
      this.#speakers.set(speaker.key, { speaker, startUs: row.startUs, position });
      return this.#speakers.size <= maxSpeakers;
    }
    if (row.startUs < known.startUs) {
      known.startUs = row.startUs;
      known.position = position;
    }
    if (known.speaker.displayName === null && speaker.displayName !== null)
      known.speaker = { ...known.speaker, displayName: speaker.displayName };
    return true;
  }

  /** In the order in which they first appear among the stored rows: by start, then by place in the artifact. */
  inOrder(): Speaker[] {
    const order = [...this.#speakers.values()].toSorted((a, b) =>
      a.startUs === b.startUs ? a.position - b.position : a.startUs < b.startUs ? -1 : 1,
    );
    return order.map((item) => item.speaker);
  }
}

/** Resolves speakers against the room and numbers the rest after the numbers that are already given. */
export function assignSpeakers(
  found: readonly Speaker[],
  participants: readonly RoomParticipant[],
  existing: readonly Pick<StoredSpeaker, 'key' | 'number' | 'erased'>[],
): StoredSpeaker[] {
  const personIds = new Map(participants.map((item) => [item.customParticipantId, item.personId]));
  const known = new Map(existing.map((item) => [item.key, item]));
  let last = Math.max(0, ...existing.map((item) => item.number ?? 0));
  return found.map(({ key, cpi, displayName }) => {
    const { number: given = null, erased = false } = known.get(key) ?? {};
    const personId = cpi === null || erased ? null : toPersonId(personIds.get(cpi));
    const number = given ?? (personId === null ? ++last : null);
    return { key, number, personId, displayName: erased ? null : displayName, erased };
  });
}

/** The room stores any integer; only one that can be a person's id resolves a speaker. */
function toPersonId(personId: number | null | undefined): number | null {
  return typeof personId === 'number' && isPossibleId(personId) ? personId : null;
}

/** Speakers and times as clients see them (T1, T6). */

/** Milliseconds of microseconds; a row keeps its millisecond. */
export const toMilliseconds = (us: number): number => Math.floor(us / 1000);

/** The id that a filter takes, the person when there is one, and the name to show. */
export interface SegmentSpeaker {
  readonly key: string;
  readonly person_id: number | null;
  readonly name: string;
}

export function describeSpeaker(personId: number, name: string): SegmentSpeaker {
  return { key: String(personId), person_id: personId > 0 ? personId : null, name };
}
