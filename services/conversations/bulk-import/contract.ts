/** Contract of the bulk import of existing conversations (rules/workspace#bulk-import, `conversations:`). */
import { byOperators, maxId, nullable, rpc, type Static, Type } from '#libs/infrastructure/contract';
import { dataErrors, JsonStore } from '../schemas.ts';

/** Id of a referenced object. In a dry run, 0 stands for an object that the same file creates. */
const Reference = Type.Integer({ minimum: 0, maximum: maxId });
const Instant = nullable(Type.String({ format: 'date-time', description: 'With an offset.' }));

/** A conversation of a workspace file whose references are resolved to ids. Absent fields are not changed. */
export const ImportItem = Type.Object({
  key: Type.String({ minLength: 1, maxLength: 500, description: 'Identifies the conversation in every import.' }),
  journey_id: Type.Optional(nullable(Reference)),
  step_id: Type.Optional(nullable(Reference)),
  default_step_id: Type.Optional(nullable(Reference)),
  event_id: Type.Optional(nullable(Reference)),
  start: Type.Optional(Instant),
  finish: Type.Optional(Instant),
  participant_ids: Type.Optional(Type.Array(Reference)),
  connected_ids: Type.Optional(Type.Array(Reference)),
  infos: Type.Optional(JsonStore('Any key; top-level keys replace whole values.')),
  config: Type.Optional(
    JsonStore('Any key except `enter-coherence`, which is `room`; top-level keys replace whole values.'),
  ),
  room: Type.Optional(nullable(JsonStore('The whole room state.'))),
});
export type ImportItem = Static<typeof ImportItem>;

const ImportedItem = Type.Object({
  key: Type.String(),
  id: nullable(Type.Integer({ description: 'Null in a dry run for new conversations.' })),
  action: Type.Enum(['create', 'update', 'unchanged']),
  fields: Type.Array(Type.Object({ field: Type.String(), old: Type.Unknown(), new: Type.Unknown() }), {
    description: 'Changed fields; values in a dry run only, null otherwise.',
  }),
});
export type ImportedItem = Static<typeof ImportedItem>;

/** Maximum number of conversations per call. */
export const maxImportItems = 1_000;

export const bulkImportRpcs = {
  importConversations: rpc({
    subject: 'admin.conversations.import.apply',
    callers: byOperators,
    audit: 'conversation.import',
    summary: 'Creates or updates conversations by key, all or none. Does not start pipeline jobs.',
    request: Type.Object({ items: Type.Array(ImportItem, { maxItems: maxImportItems }), dry_run: Type.Boolean() }),
    reply: Type.Object({ items: Type.Array(ImportedItem, { description: 'In the order of the request.' }) }),
    errors: dataErrors,
    timeoutMs: 60_000,
  }),
};
