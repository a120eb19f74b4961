/**
 * Identifies speakers (D24, D24a). A speaker is identified by the provider's `cpi`, which is matched with the stored
 * room participants of the conversation, never by a name. Unmatched speakers are numbered by first appearance, and
 * their numbers do not change.
 */
import { createHash } from 'node:crypto';
import { isPossibleId } from '#libs/infrastructure/contract';
import type { JsonObject } from '#libs/infrastructure/json';
import { toSingleLine } from '#libs/infrastructure/text';
import type { AcceptedRow } from './row-filter.ts';

/** Maximum number of distinct speakers in an artifact. */
export const maxSpeakers = 10_000;
const maxDisplayNameLength = 200;
const maxKeyLength = 200;

export interface Speaker {
  /** Key of the speaker within the conversation, built from the provider's ids. */
  readonly key: string;
  /** The provider's custom participant id, which the room assigned. */
  readonly cpi: string | null;
  readonly displayName: string | null;
}

/** A room participant as the conversation stored it. */
export interface RoomParticipant {
  readonly customParticipantId: string;
  readonly personId: number | null;
}

/** A stored speaker. */
export interface StoredSpeaker {
  readonly key: string;
  /** N of `Unresolved speaker N`. It does not change when the speaker is resolved later. */
  readonly number: number | null;
  readonly personId: number | null;
  readonly displayName: string | null;
  /** Whether the person was erased; the person's words and name are not stored again. */
  readonly erased: boolean;
}

/** Returns the id to which a speaker's rows are attributed: the person's id, or −N. */
export function attributedId(speaker: Pick<StoredSpeaker, 'personId' | 'number'>): number {
  return speaker.personId ?? -(speaker.number ?? 0);
}

/** Parses the provider's description of a speaker. Without any id, speakers are distinguished by display name. */
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

/** Collects the speakers of the accepted rows, with the position of their first appearance in the stored order. */
export class SpeakerCollector {
  readonly #speakers = new Map<string, { speaker: Speaker; startUs: bigint; position: number }>();

  /** Returns false when the limit of speakers is exceeded. */
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

  /**
   * Returns the speakers in the order of their first appearance in stored rows: by start, then by position in the
   * artifact.
   */
  inOrder(): Speaker[] {
    const order = [...this.#speakers.values()].toSorted((a, b) =>
      a.startUs === b.startUs ? a.position - b.position : a.startUs < b.startUs ? -1 : 1,
    );
    return order.map((item) => item.speaker);
  }
}

/** Resolves speakers by the room participants and numbers the other speakers after the existing numbers. */
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

/** Returns a valid person id or null. The room stores any integer, and only a valid person id resolves a speaker. */
function toPersonId(personId: number | null | undefined): number | null {
  return typeof personId === 'number' && isPossibleId(personId) ? personId : null;
}

/** Converts speakers and times to the format of the API (T1, T6). */

/** Converts microseconds to milliseconds, rounded down. */
export const toMilliseconds = (us: number): number => Math.floor(us / 1000);

/** A speaker in the API: id for filters, the person if resolved, and the display name. */
export interface SegmentSpeaker {
  readonly key: string;
  readonly person_id: number | null;
  readonly name: string;
}

export function describeSpeaker(personId: number, name: string): SegmentSpeaker {
  return { key: String(personId), person_id: personId > 0 ? personId : null, name };
}
