/** Statements on `infos` alone. */
import { statement } from '#libs/orm';
import { nextUpdatedAt } from '../statements.ts';

export interface InfosRow {
  /** JSON text, so that numbers keep their digits. */
  readonly infos: string;
}

export const getInfos = statement('conversations.get-infos', `select c.infos from conversations.conversations c where c.id = $1`, {
  pipelined: 'always',
});

/** $1 id, $2 infos (a JSON object). No row: absent. */
export const patchInfos = statement(
  'conversations.patch-infos',
  `update conversations.conversations c
   set infos = c.infos || $2::jsonb,
       updated_at = case when c.infos || $2::jsonb <> c.infos then ${nextUpdatedAt} else c.updated_at end
   where c.id = $1
   returning c.infos`,
  { pipelined: 'when-busy' },
);
