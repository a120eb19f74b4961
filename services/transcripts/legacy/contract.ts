/** Contract of bulk imports, whose rows were never filtered by a window (D7). */
import { byOperators, nullable, rpc, type Static, Type } from '#libs/infrastructure/contract';
import { conversationId } from '../evidence/contract.ts';

/** One row of a bulk import. */
export const LegacyRow = Type.Object({
  start_ms: Type.Number({ minimum: 0, maximum: 1e12, description: "Milliseconds from the conversation's start." }),
  end_ms: Type.Number({ minimum: 0, maximum: 1e12, description: 'Not before the start.' }),
  person_id: nullable(Type.Integer({ minimum: 1 }), 'Who spoke; null = unresolved.'),
  speaker: nullable(Type.String(), 'Name to show of an unresolved speaker.'),
  text: Type.String(),
});

export type LegacyRow = Static<typeof LegacyRow>;

export const legacyRpcs = {
  installLegacy: rpc({
    subject: 'admin.transcripts.rows.install-legacy',
    callers: byOperators,
    audit: 'transcript.import',
    summary:
      'Installs rows that were never cut under a window, where they differ from the stored ones (D7: legacy_unbounded)',
    request: Type.Object({
      items: Type.Array(Type.Object({ conversation_id: conversationId, rows: Type.Array(LegacyRow) }), {
        maxItems: 1_000,
      }),
      dry_run: Type.Boolean(),
    }),
    reply: Type.Object({
      items: Type.Array(
        Type.Object({
          conversation_id: conversationId,
          outcome: Type.Enum(['installed', 'unchanged', 'kept'], {
            description: '`kept`: rows were cut under a window before, and uncut ones never replace them.',
          }),
        }),
      ),
    }),
    timeoutMs: 60_000,
  }),
} as const;
