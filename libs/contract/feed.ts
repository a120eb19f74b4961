/**
 * What the platform tells the world of (rules/events): declared by the service that owns the change, told through its outbox, read from the feed of
 * the events service. Documents, filters and the client's types are derived from these declarations.
 */
import type { Static, TSchema } from 'typebox';
import { maxId } from './ids.ts';
import { Type } from './type.ts';

/** What an event can be about. */
export const feedSubjects = ['conversation', 'person', 'holon', 'membership', 'relationship', 'note', 'webhook_endpoint'] as const;
export type FeedSubject = (typeof feedSubjects)[number];

export interface FeedEvent<Data extends TSchema = TSchema> {
  readonly kind: 'feed-event';
  /** `<what>.<past>` (V1). */
  readonly type: string;
  readonly subject: FeedSubject;
  readonly summary: string;
  /** Ids, slugs and enumerations, never a person's name, text or contact (V1). */
  readonly data: Data;
  readonly example: Static<Data>;
  /** After it nothing else of the subject shows (V10). */
  readonly farewell: boolean;
}

/** Data of an event that says nothing but that it happened. */
export const noData = Type.Object({}, { additionalProperties: false });

/** Declares an event of the feed (V1). */
export function feedEvent<Data extends TSchema>(declaration: {
  type: string;
  subject: FeedSubject;
  summary: string;
  data: Data;
  example: Static<Data>;
  farewell?: boolean;
}): FeedEvent<Data> {
  return Object.freeze({ kind: 'feed-event', farewell: false, ...declaration });
}

/** Where a service puts what it tells: `feed.<service>`, in the stream FEED. */
export const feedSubjectOf = (service: string): string => `feed.${service}`;

/** What decides who may read a subject, as its owner tells it: holons that must all be seen, and people who take part. */
export interface FeedAccess {
  readonly holons: readonly number[];
  readonly people: readonly number[];
}

const id = Type.Integer({ minimum: 0, maximum: maxId });
const ids = Type.Array(id);
const name = Type.String({ minLength: 1, maxLength: 100 });

/** One message of the stream: rows of one service's outbox, in their order. */
export const toldBatch = Type.Object({
  told: Type.Array(
    Type.Object({
      number: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Place in the outbox of the service: two of one subject are in the order of their commits.',
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
