/** A row as clients see it (T1, T6). */

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
