/** Events as clients get them, from the feed and by webhook: the same bytes (V1). */
import type { Database } from '#libs/orm';
import { Cursors } from './rules/cursor.ts';
import { type FoundEvent, readCursorKey } from './statements/read.ts';

export interface EventWriter {
  readonly cursors: Cursors;
  /** Id of an event in public. */
  idOf(id: string): string;
  /** JSON of an event; JSON that SQL made is not parsed on its way. */
  write(event: FoundEvent): string;
}

/** The key of cursors is read when it is first needed, and again after a failure. */
export function createEventWriter(db: Database): () => Promise<EventWriter> {
  let writer: Promise<EventWriter> | undefined;
  return () => {
    writer ??= readCursorKey(db).then(({ key }) => {
      const cursors = new Cursors(key);
      return { cursors, idOf: eventIdOf, write: (event) => describe(event, cursors) };
    });
    writer.catch(() => (writer = undefined));
    return writer;
  };
}

const eventIdOf = (id: string): string => `evt_${id.replaceAll('-', '')}`;

function describe(event: FoundEvent, cursors: Cursors): string {
  const { id, type, occurred_at: at, subject_type: subjectType, subject_id: subjectId, data, position } = event;
  const subject = `{"type":"${subjectType}","id":${subjectId}}`;
  const head = `"id":"${eventIdOf(id)}","type":"${type}","occurred_at":"${at}"`;
  return `{${head},"subject":${subject},"data":${data},"cursor":"${cursors.write(position)}"}`;
}
