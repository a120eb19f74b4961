/** What is searched: the words of rows, and of their conversations what decides who may find them. */
import { columns, defineEntity, p } from '#libs/orm/entities';

/** As the conversations service said when it was asked last. */
export const SearchConversationSchema = defineEntity({
  name: 'SearchConversation',
  tableName: 'search_conversations',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    /** The year 1 for a conversation without a start. */
    startAt: columns.instant(),
    hasStart: p.boolean(),
    eventId: p.integer().nullable(),
    journeyId: p.integer().nullable(),
    participantIds: columns.ids(),
    version: columns.instant(),
  },
});

/** A row that may be found. */
export const SearchSegmentSchema = defineEntity({
  name: 'SearchSegment',
  tableName: 'search_segments',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    /** Place of the row in the whole transcript, from 0. */
    segmentIndex: p.integer().primary(),
    startUs: p.bigint(),
    position: p.integer(),
    personId: p.integer(),
    words: p.string().columnType('tsvector'),
  },
});
