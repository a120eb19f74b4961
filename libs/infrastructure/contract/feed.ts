/**
 * Public events (rules/events). The service that owns a change declares its events and writes them to its outbox; the
 * events service serves them in the feed. Documents, filters and client types are derived from these declarations.
 */
import type { Static, TSchema } from 'typebox';
import { maxId, Type } from './type.ts';

/** Types of event subjects. */
export const feedSubjects = [
  'conversation',
  'person',
  'holon',
  'membership',
  'relationship',
  'note',
  'webhook_endpoint',
] as const;
export type FeedSubject = (typeof feedSubjects)[number];

export interface FeedEvent<Data extends TSchema = TSchema> {
  readonly kind: 'feed-event';
  /** Event type, `<object>.<past participle>` (V1). */
  readonly type: string;
  readonly subject: FeedSubject;
  readonly summary: string;
  /** Ids, slugs and enumerations only; never names, texts or contact details of people (V1). */
  readonly data: Data;
  readonly example: Static<Data>;
  /** True for the last event of a subject. After it the feed hides the earlier events of the subject (V10). */
  readonly isFinalEvent: boolean;
}

/** Empty data. */
export const noData = Type.Object({}, { additionalProperties: false });

/** Declares an event of the feed (V1). */
export function feedEvent<Data extends TSchema>(declaration: {
  type: string;
  subject: FeedSubject;
  summary: string;
  data: Data;
  example: Static<Data>;
  isFinalEvent?: boolean;
}): FeedEvent<Data> {
  return Object.freeze({ kind: 'feed-event', isFinalEvent: false, ...declaration });
}

/** Returns the NATS subject to which a service publishes its outbox, in the stream FEED. */
export const feedSubjectOf = (service: string): string => `feed.${service}`;

/**
 * Determines who can read a subject of events. Callers need the right to see all of these holons; the listed people are
 * participants. The service that owns the subject sets it.
 */
export interface FeedAccess {
  readonly holons: readonly number[];
  readonly people: readonly number[];
}

const id = Type.Integer({ minimum: 0, maximum: maxId });
const ids = Type.Array(id);
const name = Type.String({ minLength: 1, maxLength: 100 });

/** A message of the stream FEED: rows of the outbox of one service, in order. */
export const outboxMessage = Type.Object({
  told: Type.Array(
    Type.Object({
      number: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Number in the outbox of the service. Events of one subject are numbered in commit order.',
      }),
      type: name,
      subject_type: name,
      subject_id: id,
      data: Type.Object({}, { additionalProperties: true }),
      access: Type.Union([Type.Object({ holons: ids, people: ids }), Type.Null()]),
      farewell: Type.Boolean(),
      occurred_at: Type.String({ format: 'date-time' }),
    }),
  ),
});
