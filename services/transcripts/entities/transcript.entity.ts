import { defineEntity, p } from '#libs/orm/entities';
/** What was said, and by whom. */

/** In the order in which they are read. */
export const TranscriptRowSchema = defineEntity({
  name: 'TranscriptRow',
  tableName: 'transcript_rows',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    /** Microseconds from the window's start. */
    startUs: p.bigint().primary(),
    /** Order among rows with the same start. */
    position: p.integer().primary(),
    endUs: p.bigint(),
    /** Person, or negative unresolved speaker. */
    personId: p.integer(),
    text: p.text(),
  },
});

/** A resolved speaker has a person, an unresolved one a number, which it keeps when it is resolved later. */
export const SpeakerSchema = defineEntity({
  name: 'Speaker',
  tableName: 'speakers',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    speakerKey: p.text().primary(),
    number: p.integer().nullable(),
    personId: p.integer().nullable(),
    displayName: p.text().nullable(),
    /** A person who was erased: another import stores neither words nor name. */
    erased: p.boolean().default(false),
  },
});
