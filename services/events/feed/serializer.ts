/** Serialises events as JSON. Feed and webhooks return the same bytes (V1). */
import type { Database } from '#libs/infrastructure/orm';
import { Cursors } from './rules/cursor.ts';
import { type FoundEvent, readCursorKey } from './statements/read.ts';

export interface EventSerializer {
  readonly cursors: Cursors;
  /** Returns the public id of an event. */
  publicId(id: string): string;
  /** Returns the JSON of an event. JSON from the database is inserted unchanged, without parsing it. */
  stringify(event: FoundEvent): string;
}

/** Returns a function that creates the serializer. It reads the cursor key once, and again after a failure. */
export function createEventSerializer(db: Database): () => Promise<EventSerializer> {
  let serializer: Promise<EventSerializer> | undefined;
  return () => {
    serializer ??= readCursorKey(db).then(({ key }) => {
      const cursors = new Cursors(key);
      return { cursors, publicId: toPublicId, stringify: (event) => stringifyEvent(event, cursors) };
    });
    serializer.catch(() => (serializer = undefined));
    return serializer;
  };
}

const toPublicId = (id: string): string => `evt_${id.replaceAll('-', '')}`;

function stringifyEvent(event: FoundEvent, cursors: Cursors): string {
  const { id, type, occurred_at: at, subject_type: subjectType, subject_id: subjectId, data, position } = event;
  const subject = `{"type":"${subjectType}","id":${subjectId}}`;
  const head = `"id":"${toPublicId(id)}","type":"${type}","occurred_at":"${at}"`;
  return `{${head},"subject":${subject},"data":${data},"cursor":"${cursors.write(position)}"}`;
}
