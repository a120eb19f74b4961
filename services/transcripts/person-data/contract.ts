/**
 * Contract of operations on a person's utterances, for `people export` and `people erase` of the admin CLI, and for
 * merges.
 */
import { changeOrigin, withoutActor, rowId, rpc, Type } from '#libs/infrastructure/contract';

/** Text that replaces erased words. */
export const erasedText = '[removed]';

/** Operations that the service's contract includes. */
export const personDataRpcs = {
  exportPerson: rpc({
    subject: 'transcripts.people.export',
    callers: { directory: withoutActor },
    summary: 'Lists one page of the rows of a person, by conversation and time.',
    request: Type.Object({
      person_id: rowId,
      after: Type.String({ description: '`next` of the page before; empty at first.', maxLength: 100 }),
    }),
    reply: Type.Object({
      items: Type.Array(
        Type.Object({
          conversation_id: Type.Integer(),
          start_ms: Type.Number(),
          end_ms: Type.Number(),
          text: Type.String(),
        }),
      ),
      next: Type.Union([Type.String(), Type.Null()]),
    }),
    timeoutMs: 60_000,
  }),
  erasePerson: rpc({
    subject: 'transcripts.people.erase',
    callers: { directory: withoutActor },
    audit: 'person.erase',
    summary:
      "Replaces a person's words in one page of transcripts and makes the speaker nameless. Times and counts stay, so that the evidence of the import stays true. Repeatable.",
    request: Type.Object({
      person_id: rowId,
      after: Type.Integer({ minimum: 0 }),
      dry_run: Type.Boolean(),
      by: changeOrigin,
    }),
    reply: Type.Object({
      counts: Type.Object({ transcripts: Type.Integer(), transcript_rows: Type.Integer() }),
      next: Type.Union([Type.Integer(), Type.Null()]),
    }),
    timeoutMs: 60_000,
  }),
  mergePerson: rpc({
    subject: 'transcripts.people.merge',
    callers: { directory: withoutActor },
    summary:
      'Puts who stays in the place of who was merged, in one page of transcripts and of what is searched (rules/people#merge-people; I3). Repeatable.',
    request: Type.Object({ gone_id: rowId, into_id: rowId, after: Type.Integer({ minimum: 0 }) }),
    reply: Type.Object({ next: Type.Union([Type.Integer(), Type.Null()]) }),
    timeoutMs: 60_000,
  }),
} as const;
