import { Migration } from '#libs/orm/migrations';

/**
 * Deleted conversations are kept (D67). They stay in their table, which gets another name; under the old one is a view of all others, so
 * that no statement sees a deleted conversation unless it asks for one, those of the previous release included.
 */
export class Migration20260401110000_deleted_conversations extends Migration {
  override up(): void {
    this.addSql('alter table conversations.conversations rename to all_conversations');
    this.addSql(`alter table conversations.all_conversations
      add column deleted_at timestamptz,
      add column deletion jsonb,
      add constraint all_conversations__deletion__check check ((deleted_at is null) = (deletion is null))`);
    this.addSql(`comment on column conversations.all_conversations.deletion is
      'why and by what it was deleted, and what hung on it: {reason, by, booking_id, import_key}'`);
    this.addSql(`create index all_conversations__deleted_at__index on conversations.all_conversations (deleted_at, id)
      where deleted_at is not null`);
    this.addSql(`create view conversations.conversations as
      select id, journey_id, step_id, event_id, start_at, finish_at, participant_ids, connected_ids, infos, config, room, question_state,
        audio_blob_id, created_at, updated_at
      from conversations.all_conversations where deleted_at is null`);
    this.addSql(`comment on view conversations.conversations is
      'conversations that are not deleted; a new column of all_conversations is appended here as well'`);
    // Whoever had rights on the table keeps them while the previous release runs.
    this.addSql(`do $$
      declare
        grantee text;
      begin
        for grantee in
          select distinct g.grantee from information_schema.role_table_grants g
          where g.table_schema = 'conversations' and g.table_name = 'all_conversations' and g.privilege_type = 'SELECT'
            and g.grantee <> current_user
        loop
          execute format('grant select, insert, update, delete on conversations.conversations to %I', grantee);
        end loop;
      end $$`);
  }
}
